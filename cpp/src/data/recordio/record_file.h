// A file of records in chunks, of whichever version.
#pragma once

#include <memory>
#include <string>

#include "data/lru_cache.h"
#include "data/data_file.h"
#include "data/recordio/bytes.h"
#include "tandem/recordio.h"

namespace tandem::recordio {

// As RecordIOReader has them: `record` and `verify` are thread-safe, and throw Error naming file, chunk and offset.
class RecordFile {
 public:
  virtual ~RecordFile() = default;
  virtual std::int64_t size() const = 0;
  virtual Record record(std::int64_t index) = 0;  // which is in range
  virtual std::size_t chunk_count() const = 0;
  virtual RecordIOChunk chunk(std::size_t number) const = 0;  // in range, here and below
  virtual std::size_t chunk_of(std::int64_t index) const = 0;
  virtual std::uint64_t verify(std::size_t number) = 0;  // keeps nothing of the chunk
  virtual int version() const = 0;
  virtual RecordIODialect dialect() const { return RecordIODialect::kOriginal; }
  virtual const RecordIOMetadata& metadata() const = 0;
  virtual std::uint64_t fingerprint() const = 0;
};

// Throws Error(kUnsupported) that names file, chunk and the option that allows it.
[[noreturn]] void throw_too_large(const std::string& file, std::uint64_t number, std::uint64_t offset,
                                  std::uint64_t bytes, std::uint64_t most);
// What of a plain chunk is kept, as memory that has nothing but it: a part of a block that was fetched would keep the
// whole block, which nobody counts. Where `read` lies in a map it stays there.
Record to_keep(Record read);

// Without a cache, whatever was made of a chunk stays as long as the file, and records have no owners.
std::unique_ptr<RecordFile> open_v1(std::shared_ptr<DataFile> file, const RecordIOReaderOptions& options,
                                    std::shared_ptr<LruCache> cache);
std::unique_ptr<RecordFile> open_v2(std::shared_ptr<DataFile> file, const RecordIOReaderOptions& options,
                                    std::shared_ptr<LruCache> cache);
// Of the version that the file's first bytes say.
std::unique_ptr<RecordFile> open_record_file(std::shared_ptr<DataFile> file, const RecordIOReaderOptions& options,
                                             std::shared_ptr<LruCache> cache);

}  // namespace tandem::recordio
