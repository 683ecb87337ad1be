// Files of other programs' formats as sources of records; docs/data.md says what a record of each is.
#pragma once

#include <memory>
#include <string>

#include "data/data_file.h"
#include "data/recordio/bytes.h"
#include "tandem/open_records.h"

namespace tandem::formats {

using recordio::Bytes;

// All of them check what the file declares against its size before memory is taken, and throw Error(kDataLoss) naming
// file and place.
std::unique_ptr<RecordSource> open_tfrecord(std::shared_ptr<DataFile> file);
// With FILE.idx in the place of FILE.rec, where that is: its lines say which records there are.
std::unique_ptr<RecordSource> open_dmlc(std::shared_ptr<DataFile> file);
std::unique_ptr<RecordSource> open_tar(std::shared_ptr<DataFile> file);
std::unique_ptr<RecordSource> open_idx(std::shared_ptr<DataFile> file);
std::unique_ptr<RecordSource> open_mnist(std::shared_ptr<DataFile> images, std::shared_ptr<DataFile> labels);
std::unique_ptr<RecordSource> open_cifar(std::shared_ptr<DataFile> file, RecordFormat format);
std::unique_ptr<RecordSource> open_lines(std::shared_ptr<DataFile> file, RecordFormat format);

// Throws Error(kDataLoss): "FILE: what; restore the file".
[[noreturn]] void throw_damaged(const DataFile& file, const std::string& what);

// Memory for a record that does not lie in its file as it is; `bytes` is what to fill.
struct NewRecord {
  explicit NewRecord(std::size_t size)
      : memory(std::make_shared_for_overwrite<std::uint8_t[]>(size)), bytes(memory.get(), size) {}
  operator Record() && { return {bytes, std::move(memory)}; }

  std::shared_ptr<std::uint8_t[]> memory;
  std::span<std::uint8_t> bytes;
};

}  // namespace tandem::formats
