// A file mapped for reading.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tandem {

// Throws Error(kNotFound) or Error(kIo) naming the file, kIo also for pipes and devices. Thread-safe after
// construction.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::uint8_t> bytes() const { return bytes_; }
  // When the file was written last, in nanoseconds since 1970.
  std::int64_t modified() const { return modified_; }
  // The user's number.
  std::uint32_t owner() const { return owner_; }

 private:
  std::span<const std::uint8_t> bytes_;
  std::int64_t modified_ = 0;
  std::uint32_t owner_ = 0;
};

}  // namespace tandem
