// A file of torch.jit.save, checked before LibTorch reads it.
#pragma once

#include <caffe2/serialize/read_adapter_interface.h>

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace tandem::jit {

// LibTorch's reader trusts what a file says of itself: it takes memory for sizes that the directory claims, runs
// pickles, which may refer to places outside of their storages, and has its compiler call itself as deep as code nests.
// So of the file only members that a module has are shown to LibTorch, in a zip archive with headers and a directory of
// our own, and these were looked through before: every member has its checksum; the pickles hold nothing but values, of
// the file's own classes, whose storages are in the file; code is of a size and depth that can be compiled, and has no
// __setstate__, which loading would call.
class Archive : public caffe2::serialize::ReadAdapterInterface {
 public:
  // `file` must outlive it. `name`: for messages. Throws tandem::Error: kDataLoss, kUnsupported.
  Archive(std::span<const std::uint8_t> file, const std::string& name);

  std::size_t size() const override { return size_; }
  std::size_t read(std::uint64_t position, void* buffer, std::size_t bytes, const char* what) const override;

 private:
  struct Part {
    std::uint64_t begin;  // in the archive that LibTorch sees
    std::span<const std::uint8_t> bytes;
  };
  void add(std::span<const std::uint8_t> bytes);
  void add_own(std::string bytes);

  std::vector<Part> parts_;
  std::deque<std::string> own_;
  std::uint64_t size_ = 0;
};

}  // namespace tandem::jit
