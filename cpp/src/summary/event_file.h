// Records in TFRecord's framing, appended to a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace tandem {

// A record is its u64 length, a masked CRC-32C of that, its bytes, and a masked CRC-32C of them, all little-endian.
// Errors: Error(kIo) naming the file.
class EventFile {
 public:
  explicit EventFile(std::string path);  // which must not be there yet

  // Writes the whole record before it returns; where that fails, the file is as it was before.
  void append(std::string_view record);
  void sync();
  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(const char* what) const;

  std::string path_;
  Descriptor file_;
  std::int64_t size_ = 0;
};

}  // namespace tandem
