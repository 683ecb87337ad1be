// What several subcommands take.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tandem/open_records.h"
#include "tandem/recordio.h"

namespace tandem::data_tool {

// How much memory is taken for what few bytes may become.
class MostChunk {
 public:
  void add_to(CLI::App& command);
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(mb_ * (1 << 20)); }

 private:
  double mb_ = 1024;
};

// Files to read, and how.
class Input {
 public:
  void add_to(CLI::App& command);

  const std::vector<std::string>& paths() const { return paths_; }
  OpenRecordsOptions options() const;
  std::unique_ptr<RecordSource> open() const { return open_records(paths_, options()); }
  // What the one file says of its records, where it is one and of RecordIO. Of several it is not known to be true of
  // all.
  RecordIOMetadata metadata() const;

 private:
  std::vector<std::string> paths_;
  std::string format_ = "detect";
  std::int64_t skip_ = 0;
  MostChunk most_chunk_;
};

// The first record and how many follow it.
class Range {
 public:
  void add_to(CLI::App& command);
  std::int64_t begin() const { return begin_; }
  // Where it ends within a source of `size`. Throws Error(kOutOfRange) naming `what`.
  std::int64_t end(std::int64_t size, const std::string& what) const;

 private:
  std::int64_t begin_ = 0, count_ = -1;
};

// A file of RecordIO to write.
class Output {
 public:
  void add_to(CLI::App& command);

  const std::string& path() const { return path_; }
  // Throws Error(kInvalidArgument) where an option was given that only RecordIO has.
  void require_no_recordio_options(const std::string& format) const;
  // `known`: what is known of the records already; what the user says goes before it. Version 1 has no place for it.
  RecordIOWriterOptions options(const RecordIOMetadata& known = {}) const;

 private:
  std::string path_;
  std::vector<CLI::Option*> recordio_only_;
  RecordIOWriterOptions options_;
  double chunk_mb_ = 32;
  std::vector<std::string> metadata_;
};

std::string compressor_name(Compressor compressor);

}  // namespace tandem::data_tool
