// Where a writer's records go, in whichever version.
#pragma once

#include <memory>

#include "base/atomic_file.h"
#include "data/recordio/bytes.h"
#include "tandem/recordio.h"

namespace tandem::recordio {

// One thread at a time. Throws Error naming the file.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void add(Bytes record) = 0;
  // Writes what is pending, and what ends a file.
  virtual void finish() = 0;
};

// `file` outlives the sink. Throw Error(kInvalidArgument) for options that the version does not have.
std::unique_ptr<RecordSink> v1_sink(AtomicFile& file, const RecordIOWriterOptions& options);
std::unique_ptr<RecordSink> v2_sink(AtomicFile& file, const RecordIOWriterOptions& options);

}  // namespace tandem::recordio
