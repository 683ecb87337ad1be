#include "data/tool/options.h"

#include <algorithm>
#include <map>

#include "base/shown_path.h"
#include "tandem/error.h"

namespace tandem::data_tool {
namespace {

const std::map<std::string, Compressor> kCompressors = {{"none", Compressor::kNone},
                                                        {"snappy", Compressor::kSnappy},
                                                        {"gzip", Compressor::kGzip},
                                                        {"zstd", Compressor::kZstd}};

}  // namespace

void MostChunk::add_to(CLI::App& command) {
  command.add_option("--most-chunk-mb", mb_, "Memory that a chunk may take once it is decompressed")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 4096.0));
}

void Input::add_to(CLI::App& command) {
  command.add_option("files", paths_, "Files, patterns, ranges like a-{00..15}, @lists of files")->required();
  command.add_option("--format", format_, "Of the files, where their content does not tell")
      ->capture_default_str()
      ->check(CLI::IsMember(record_format_names()));
  command.add_option("--skip", skip_, "Records to leave out at the beginning of each file")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  most_chunk_.add_to(command);
}

OpenRecordsOptions Input::options() const {
  OpenRecordsOptions options;
  options.format = record_format(format_);
  options.skip = skip_;
  options.most_chunk_bytes = most_chunk_.bytes();
  return options;
}

RecordIOMetadata Input::metadata() const {
  const std::vector<std::string> files = expand_record_paths(paths_);
  const RecordFormat format = options().format;
  if (files.size() != 1 || (format != RecordFormat::kDetect && format != RecordFormat::kRecordIO) ||
      detect_record_format(files[0]) != RecordFormat::kRecordIO) {
    return {};
  }
  return RecordIOReader(files[0]).metadata();
}

void Range::add_to(CLI::App& command) {
  command.add_option("--begin", begin_, "First record")->capture_default_str();
  command.add_option("--count", count_, "Number of records; -1 for all that follow")->capture_default_str();
}

std::int64_t Range::end(std::int64_t size, const std::string& what) const {
  if (begin_ < 0 || begin_ > size) {
    throw Error(ErrorCode::kOutOfRange, shown_path(what) + " has " + std::to_string(size) +
                                            " records; there is no record " + std::to_string(begin_));
  }
  return count_ < 0 ? size : begin_ + std::min(count_, size - begin_);
}

void Output::add_to(CLI::App& command) {
  options_.version = 2;
  command.add_option("-o,--output", path_, "File to write")->required();
  recordio_only_ = {
      command.add_option("--version", options_.version, "Of RecordIO: 1 or 2")
          ->capture_default_str()
          ->check(CLI::Range(1, 2)),
      command.add_option("--compressor", options_.compressor, "Of version 1: none, snappy, gzip; of 2: none, zstd")
          ->transform(CLI::CheckedTransformer(kCompressors))
          ->default_str("none"),
      command.add_option("--level", options_.level, "Of zstd, 1 to 19")->capture_default_str(),
      command.add_option("--alignment", options_.alignment, "Of records in version 2, in bytes")->capture_default_str(),
      command.add_option("--chunk-mb", chunk_mb_, "MiB of records in a chunk")
          ->capture_default_str()
          ->check(CLI::Range(1e-3, 1024.0)),
      command.add_option("--metadata", metadata_, "KEY=VALUE, for version 2; may be given several times")
          ->allow_extra_args(false)};
}

void Output::require_no_recordio_options(const std::string& format) const {
  for (const CLI::Option* option : recordio_only_) {
    if (option->count() > 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  option->get_name() + " is of RecordIO; files of '" + format + "' have none");
    }
  }
}

RecordIOWriterOptions Output::options(const RecordIOMetadata& known) const {
  RecordIOWriterOptions options = options_;
  options.chunk_bytes = static_cast<std::uint64_t>(chunk_mb_ * 1024 * 1024);
  for (const std::string& pair : metadata_) {
    const auto at = pair.find('=');
    if (at == std::string::npos) throw Error(ErrorCode::kInvalidArgument, "--metadata " + pair + " is no KEY=VALUE");
    options.metadata.user[pair.substr(0, at)] = pair.substr(at + 1);
  }
  if (options.version > 1) {
    options.metadata.schema = known.schema;
    for (const auto& [key, value] : known.user) options.metadata.user.emplace(key, value);
  }
  return options;
}

std::string compressor_name(Compressor compressor) {
  for (const auto& [name, named] : kCompressors) {
    if (named == compressor) return name;
  }
  return "?";
}

}  // namespace tandem::data_tool
