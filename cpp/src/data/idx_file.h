// MNIST's IDX format: a magic number, sizes (big-endian u32), then bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem {

// Reads an IDX file of unsigned bytes item by item, so that memory does not depend on what a header or a compressed
// stream claims. Plain or gzip-compressed, told apart by content. Throws Error naming the file.
class IdxFile {
 public:
  // `dimensions`: 1 for labels, 3 for images; `kind` names what is expected in errors ("images").
  IdxFile(std::string path, int dimensions, const std::string& kind);
  ~IdxFile();
  IdxFile(const IdxFile&) = delete;
  IdxFile& operator=(const IdxFile&) = delete;

  const std::string& path() const { return path_; }
  const std::vector<std::uint32_t>& sizes() const { return sizes_; }
  std::size_t item_bytes() const { return item_bytes_; }
  // The next item's item_bytes() bytes.
  void read_item(std::uint8_t* to);
  // Checks that the file ends here.
  void expect_end();

 private:
  // Reads up to `size` bytes; fewer at the end of the file.
  std::size_t read(void* to, std::size_t size);
  [[noreturn]] void damaged(const std::string& what) const;

  std::string path_;
  void* file_ = nullptr;  // gzFile
  std::vector<std::uint32_t> sizes_;
  std::size_t item_bytes_ = 1;
  std::uint64_t items_read_ = 0;
};

}  // namespace tandem
