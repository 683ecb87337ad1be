// Opens files of records, of whatever format, as one data set. docs/data.md has the formats.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tandem/export.h"
#include "tandem/record_source.h"
#include "tandem/remote_options.h"

namespace tandem {

enum class RecordFormat {
  kDetect,      // what the file's first bytes say
  kRecordIO,    // versions 1 and 2
  kPaddle,      // RecordIO as Paddle fluid orders its header
  kPyRecordIO,  // RecordIO as pyrecordio does
  kTFRecord,
  kDmlc,      // RecordIO of dmlc and MXNet
  kTar,       // WebDataset
  kIdx,       // one IDX file: a record is an item
  kMnist,     // pairs of IDX files, images and labels: a record is the label, then the pixels
  kCifar10,   // the binary version
  kCifar100,  // the same
  kLines,     // a record is a line
  kCsv,       // a line too, except that quoted fields may hold line ends
  kNdjson,
};

// "tfrecord" and so on; the names that the tool takes. Throws Error(kInvalidArgument) with all of them.
TANDEM_API RecordFormat record_format(const std::string& name);
TANDEM_API const std::string& record_format_name(RecordFormat format);
TANDEM_API std::vector<std::string> record_format_names();

struct OpenRecordsOptions {
  RecordFormat format = RecordFormat::kDetect;
  // Records to leave out at the beginning of each file: a CSV file's header.
  std::int64_t skip = 0;
  // Whether FILE.idx is read for RecordIO v1, and written where that saves time (write_recordio_index()).
  bool index = true;
  // Of decompressed and of fetched chunks that stay in memory, of all files together. Records that are in use count
  // beside them.
  std::uint64_t cache_bytes = 256u << 20;
  // As RecordIOReaderOptions has it.
  std::uint64_t most_chunk_bytes = 1u << 30;
  RemoteOptions remote = {};
};

// A path may be a pattern of the shell (`*`, `?`, `[…]`; what it matches is sorted by bytes), have ranges of numbers
// (`train-{000..127}.tar`), or be `@list.txt`: a text file of such paths, one a line, relative to that file; empty
// lines and those that begin with # are skipped. A URL, http://, https:// or s3://, may have ranges, but is no pattern.
// Of files of this host, the index FILE.idx that a reader wrote beside another of them is left out.
//
// Errors: Error(kNotFound) for what is not there, kInvalidArgument for no paths and for a file whose format is not
// known, kDataLoss for a damaged one; each names the file and what to do.
TANDEM_API std::vector<std::string> expand_record_paths(const std::vector<std::string>& paths);

// What the content of a file says of its format; only CSV is told from other lines by the file's name, ".csv" or
// ".tsv". Errors: Error(kNotFound), Error(kIo); kInvalidArgument where it is none that can be told.
TANDEM_API RecordFormat detect_record_format(const std::string& path);

// The files' records one file after another, in the order of the paths. Files need not be of one format.
// Errors: those of expand_record_paths() and of the formats; Error(kUnsupported) for a chunk of more than
// most_chunk_bytes; of URLs also Error(kLibrary) without libcurl, kIo for what
// the server says after all attempts, kUnsupported for one that sends files whole only, and kDataLoss when reading a
// file that has become another one.
TANDEM_API std::unique_ptr<RecordSource> open_records(const std::vector<std::string>& paths,
                                                      const OpenRecordsOptions& options = {});

}  // namespace tandem
