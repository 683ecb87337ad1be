#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>

#include "base/atomic_file.h"
#include "data/data_file.h"
#include "data/formats/sinks.h"
#include "data/tool/commands.h"
#include "data/tool/options.h"
#include "data/tool/progress.h"
#include "tandem/error.h"
#include "tandem/sample_order.h"

namespace tandem::data_tool {
namespace {

void close_and_say(RecordIOWriter& writer, const std::string& path) {
  require_all_read(path);
  writer.close();
  std::printf("%s: %" PRId64 " records\n", path.c_str(), writer.written());
}

// Standard input line by line, without the ends of lines.
void write_input_lines(RecordIOWriter& writer) {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    if (line.ends_with('\r')) line.pop_back();
    writer.write(line.data(), line.size());
  }
  if (std::cin.bad()) throw Error(ErrorCode::kIo, "standard input cannot be read");
}

// A name beside `path` that is taken away again.
class Scratch {
 public:
  explicit Scratch(const std::string& path) : path_(path + ".shuffle" + std::to_string(::getpid())) {}
  ~Scratch() { ::unlink(path_.c_str()); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

void copy(RecordSource& source, RecordIOWriter& writer, const std::string& name) {
  Progress progress(name, source.size());
  for (std::int64_t i = 0; i < source.size(); ++i, progress.add()) writer.write(source.read(i).bytes);
}

// Records in a random order are each found where they lie; out of compressed chunks each would be decompressed again.
std::unique_ptr<RecordSource> with_records_in_place(std::unique_ptr<RecordSource> source,
                                                    std::optional<Scratch>& scratch, const std::string& output) {
  if (source->size() == 0 || !source->read(0).owner) return source;
  scratch.emplace(output);
  RecordIOWriterOptions plain;
  plain.version = 2;
  plain.alignment = 1;
  RecordIOWriter writer(scratch->path(), plain);
  copy(*source, writer, scratch->path());
  require_all_read(output);
  writer.close();
  return open_records({scratch->path()});
}

}  // namespace

void add_write(CLI::App& record) {
  struct Flags {
    std::vector<std::string> files;
    bool whole = false;
    Output output;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = record.add_subcommand("write", "Make records of lines, or of whole files");
  command->add_option("files", flags->files, "Files to read; standard input without any");
  command->add_flag("--whole", flags->whole, "A record is a file's content, not a line");
  flags->output.add_to(*command);
  command->callback([flags] {
    if (flags->whole && flags->files.empty()) {
      throw Error(ErrorCode::kInvalidArgument, "--whole makes a record of each file, and no file is given");
    }
    const RecordIOWriterOptions options = flags->output.options();
    RecordIOWriter writer(flags->output.path(), options);
    if (flags->files.empty()) {
      write_input_lines(writer);
    } else if (flags->whole) {
      const auto files = expand_record_paths(flags->files);
      Progress progress(flags->output.path(), static_cast<std::int64_t>(files.size()));
      for (const std::string& name : files) {
        const auto file = open_data_file(name);
        writer.write(file->read(0, file->size()).bytes);
        progress.add();
      }
    } else {
      copy(*open_records(flags->files, {.format = RecordFormat::kLines}), writer, flags->output.path());
    }
    close_and_say(writer, flags->output.path());
  });
}

void add_convert(CLI::App& record) {
  struct Flags {
    Input input;
    Range range;
    Output output;
    std::string to = "recordio";
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      record.add_subcommand("convert", "Write the records of files of any format, one after another, to one file");
  flags->input.add_to(*command);
  flags->range.add_to(*command);
  flags->output.add_to(*command);
  command->add_option("--to", flags->to, "Format to write: recordio, tfrecord, dmlc, tar, lines, csv or ndjson")
      ->capture_default_str()
      ->check(CLI::IsMember(record_format_names()));
  command->callback([flags] {
    const auto source = flags->input.open();
    const std::string& output = flags->output.path();
    const std::int64_t begin = flags->range.begin(), end = flags->range.end(source->size(), flags->input.paths()[0]);
    const auto copy_with = [&](const auto& write) {
      Progress progress(output, end - begin);
      for (std::int64_t i = begin; i < end; ++i, progress.add()) write(source->read(i).bytes);
    };
    if (record_format(flags->to) == RecordFormat::kRecordIO) {
      const RecordIOWriterOptions options = flags->output.options(flags->input.metadata());
      RecordIOWriter writer(output, options);
      copy_with([&](recordio::Bytes record) { writer.write(record); });
      close_and_say(writer, output);
    } else {
      flags->output.require_no_recordio_options(flags->to);
      AtomicFile file(output);
      const auto sink = formats::make_sink(record_format(flags->to), file);
      copy_with([&](recordio::Bytes record) { sink->add(record); });
      sink->finish();
      require_all_read(output);
      file.commit();
      std::printf("%s: %" PRId64 " records\n", output.c_str(), end - begin);
    }
  });
}

void add_shuffle(CLI::App& record) {
  struct Flags {
    Input input;
    Output output;
    std::uint64_t seed = 0;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = record.add_subcommand("shuffle", "Write the records of files to one in a random order");
  flags->input.add_to(*command);
  flags->output.add_to(*command);
  command->add_option("--seed", flags->seed, "The same seed gives the same order")->capture_default_str();
  command->callback([flags] {
    std::optional<Scratch> scratch;
    const RecordIOWriterOptions options = flags->output.options(flags->input.metadata());
    const auto source = with_records_in_place(flags->input.open(), scratch, flags->output.path());
    const Permutation order(source->size(), flags->seed, 0);
    RecordIOWriter writer(flags->output.path(), options);
    Progress progress(flags->output.path(), source->size());
    for (std::int64_t i = 0; i < source->size(); ++i, progress.add()) writer.write(source->read(order(i)).bytes);
    close_and_say(writer, flags->output.path());
  });
}

}  // namespace tandem::data_tool
