// Writing formats other than RecordIO.
#pragma once

#include <memory>

#include "data/recordio/record_sink.h"
#include "tandem/open_records.h"

namespace tandem::formats {

// For TFRecord, dmlc, tar, lines, csv and ndjson: what reads back as the records that were added. `file` outlives the
// sink. Throws Error(kInvalidArgument) for a format that is only read, and for dmlc beside an index of other records;
// so does its add(), naming file and record, for a record that the format cannot hold.
std::unique_ptr<recordio::RecordSink> make_sink(RecordFormat format, AtomicFile& file);

// A tar of the files that a record names, which is a MessagePack map as tar files are read.
std::unique_ptr<recordio::RecordSink> tar_sink(AtomicFile& file);

}  // namespace tandem::formats
