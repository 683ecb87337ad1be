// A file of records in chunks, of whichever version.
#pragma once

#include <memory>
#include <string>

#include "data/mapped_file.h"
#include "data/recordio/bytes.h"
#include "tandem/recordio.h"

namespace tandem::recordio {

// As RecordIOReader has them: `record` and `verify` are thread-safe, and throw Error naming file, chunk and offset.
class RecordFile {
 public:
  virtual ~RecordFile() = default;
  virtual std::int64_t size() const = 0;
  virtual Bytes record(std::int64_t index) = 0;  // which is in range
  virtual std::size_t chunk_count() const = 0;
  virtual RecordIOChunk chunk(std::size_t number) const = 0;  // in range, here and below
  virtual std::uint64_t verify(std::size_t number) = 0;
  virtual int version() const = 0;
  virtual const RecordIOMetadata& metadata() const = 0;
};

std::unique_ptr<RecordFile> open_v1(const std::string& path);
std::unique_ptr<RecordFile> open_v2(const std::string& path);

}  // namespace tandem::recordio
