#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>

#include "data/tool/commands.h"
#include "data/tool/numbered_files.h"
#include "data/tool/options.h"
#include "data/tool/progress.h"
#include "tandem/error.h"

namespace tandem::data_tool {

void add_merge(CLI::App& record) {
  struct Flags {
    std::vector<std::string> files;
    std::string output;
    MostChunk most_chunk;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = record.add_subcommand(
      "merge", "Put the chunks of RecordIO files of one version into one, checked but as they are");
  command->add_option("files", flags->files, "Files, patterns, ranges like a-{00..15}, @lists of files")->required();
  command->add_option("-o,--output", flags->output, "File to write")->required();
  flags->most_chunk.add_to(*command);
  command->callback([flags] {
    const auto files = expand_record_paths(flags->files);
    Progress progress(flags->output, static_cast<std::int64_t>(files.size()));
    const std::int64_t records = merge_recordio(
        files, flags->output, [&] { progress.add(); }, flags->most_chunk.bytes());
    std::printf("%s: %" PRId64 " records\n", flags->output.c_str(), records);
  });
}

void add_split(CLI::App& record) {
  struct Flags {
    Input input;
    Output output;
    std::int64_t parts = 0, records = 0;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = record.add_subcommand(
      "split", "Divide records among several files, which are numbered: train.rio becomes train-00000.rio and so on");
  flags->input.add_to(*command);
  flags->output.add_to(*command);
  CLI::Option* parts = command->add_option("--parts", flags->parts, "Files to write, of about equally many records");
  parts->check(CLI::Range(1, 99999));
  command->add_option("--records", flags->records, "Records of each file but the last")
      ->check(CLI::PositiveNumber)
      ->excludes(parts);
  command->callback([flags] {
    if (flags->parts == 0 && flags->records == 0) {
      throw Error(ErrorCode::kInvalidArgument, "split needs --parts, the number of files, or --records, those of each");
    }
    const auto source = flags->input.open();
    const RecordIOWriterOptions options = flags->output.options(flags->input.metadata());
    const std::int64_t size = source->size();
    const std::int64_t parts =
        flags->parts > 0 ? flags->parts : size / flags->records + (size % flags->records != 0 ? 1 : 0);
    if (parts > 99999) {
      throw Error(ErrorCode::kInvalidArgument, std::to_string(size) + " records would become " + std::to_string(parts) +
                                                   " files; choose more --records for each");
    }
    const NumberedFiles files(flags->output.path());
    files.refuse_inputs(parts, expand_record_paths(flags->input.paths()));
    files.refuse_more_than(parts);
    Progress progress(flags->output.path(), size);
    std::int64_t at = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t rest = size - at;
      const std::int64_t count =
          flags->records > 0 ? std::min(rest, flags->records) : size / parts + (part < size % parts ? 1 : 0);
      const std::string path = files.path(part);
      RecordIOWriter writer(path, options);
      for (const std::int64_t end = at + count; at < end; ++at, progress.add()) writer.write(source->read(at).bytes);
      require_all_read(path);
      writer.close();
      std::printf("%s: %" PRId64 " records\n", path.c_str(), count);
    }
  });
}

}  // namespace tandem::data_tool
