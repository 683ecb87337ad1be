// The tensors of one safetensors file: where they go, and reading them a block at a time.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "tandem/named_tensors.h"
#include "weights/safetensors_header.h"

namespace tandem::safetensors {

// Small enough that who looks at bytes after they were read, or before they are written, finds them in a core's cache.
inline constexpr std::size_t kBlock = std::size_t{1} << 18;

// A file that is to be written.
struct Layout {
  std::string start;               // all bytes before the tensors'
  std::vector<std::size_t> order;  // of the tensors that were given, as they follow in the file
};
// Throws tandem::Error (kInvalidArgument): a name twice or reserved, a tensor that is not dense, a dtype that the
// format lacks.
Layout lay_out(const NamedTensors& tensors, const std::map<std::string, std::string>& metadata);

// On the CPU, its elements in order: the tensor itself where it is so.
at::Tensor plain(const at::Tensor& tensor);

class OpenFile {
 public:
  // Throws tandem::Error: kNotFound, kIo, kInvalidArgument for what is no file, kDataLoss.
  explicit OpenFile(std::string path);

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  const Header& header() const { return header_; }
  // All bytes before the tensors'.
  const std::string& start() const { return start_; }

  using Look = std::function<void(const void* block, std::size_t size)>;
  // The bytes of an entry, in blocks that `look` sees one after the other. Throws kIo, kDataLoss where the file is cut
  // off meanwhile.
  void read(const Entry& entry, void* to, const Look& look = {}) const;

 private:
  void read_at(std::uint64_t begin, void* to, std::size_t size) const;

  std::string path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
  std::string start_;
  Header header_;
};

at::ScalarType scalar_type(const Entry& entry);

}  // namespace tandem::safetensors
