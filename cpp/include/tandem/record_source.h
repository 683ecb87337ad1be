// Records by number, from files of whatever format.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tandem/export.h"

namespace tandem {

// The bytes of one record. They are valid as long as `owner` lives, or, where that is empty, as long as their source.
struct Record {
  std::span<const std::uint8_t> bytes;
  std::shared_ptr<const void> owner;
};

// A data set as a sequence of byte strings with access by number. Thread-safe.
class TANDEM_API RecordSource {
 public:
  virtual ~RecordSource() = default;
  virtual std::int64_t size() const = 0;
  // Record `index`, 0 ≤ index < size(). Throws Error naming file, place and what is wrong. Where a mapped file is cut
  // off while a record of it is used, that reads as zeros, and to read() it once more throws Error(kDataLoss).
  virtual Record read(std::int64_t index) = 0;
  // Where record `index` lies, for messages: "train.recordio, chunk 3, record 17".
  virtual std::string place(std::int64_t index) const = 0;
  // The same for the same records in the same order, as far as it can be told without reading them all: of sizes,
  // counts, chunk offsets and stored checksums, never of paths or times.
  virtual std::uint64_t fingerprint() const = 0;
};

}  // namespace tandem
