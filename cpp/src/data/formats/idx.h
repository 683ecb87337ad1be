// MNIST's IDX format: two zeros, a type, the number of dimensions, sizes (big-endian u32), then elements, big-endian.
// Source: yann.lecun.com/exdb/mnist.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/data_file.h"
#include "data/recordio/bytes.h"

namespace tandem::formats {

// What the first bytes of a file say. The second is what its header declares for the whole file, where it is all there.
bool is_idx(recordio::Bytes begin);
std::optional<std::uint64_t> declared_idx_bytes(recordio::Bytes begin);
bool is_gzipped_idx(recordio::Bytes begin);

// A file, plain or compressed with gzip, which is decompressed into memory; that grows with what is there, not with
// what is declared. Throws Error naming the file.
class IdxFile {
 public:
  explicit IdxFile(std::shared_ptr<DataFile> file);
  // Of unsigned bytes in so many dimensions; `kind` names them in errors ("images").
  IdxFile(std::shared_ptr<DataFile> file, std::size_t dimensions, const std::string& kind);

  const std::string& name() const { return file_->name(); }
  const std::vector<std::uint32_t>& sizes() const { return sizes_; }
  std::int64_t items() const { return sizes_[0]; }
  std::uint64_t item_bytes() const { return item_bytes_; }
  std::uint64_t element_bytes() const { return element_bytes_; }
  // As the file has it.
  Record item(std::int64_t index) const;
  std::uint64_t fingerprint() const;

 private:
  void open(std::size_t dimensions, const std::string& kind);
  Record bytes(std::uint64_t offset, std::uint64_t length) const;

  std::shared_ptr<DataFile> file_;
  std::shared_ptr<const std::vector<std::uint8_t>> decompressed_;
  std::vector<std::uint32_t> sizes_;
  std::uint64_t header_bytes_ = 0;
  std::uint64_t item_bytes_ = 0;
  std::uint64_t element_bytes_ = 1;
};

}  // namespace tandem::formats
