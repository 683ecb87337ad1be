#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>

#include "data/tool/commands.h"
#include "data/tool/options.h"
#include "tandem/open_records.h"
#include "tandem/recordio.h"

namespace tandem::data_tool {

void add_index(CLI::App& record) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command = record.add_subcommand("index", "Write FILE.idx beside RecordIO files of version 1");
  command->add_option("files", *files, "Files, patterns, ranges like a-{00..15}, @lists of files")->required();
  command->callback([files] {
    for (const std::string& file : expand_record_paths(*files)) {
      const std::size_t chunks = write_recordio_index(file);
      if (RecordIOReader(file).version() == 1) {
        std::printf("%s.idx: %zu chunks\n", file.c_str(), chunks);
      } else {
        std::printf("%s: %zu chunks; version 2 has its index inside\n", file.c_str(), chunks);
      }
    }
  });
}

void add_repair(CLI::App& record) {
  struct Flags {
    std::string file, output;
    MostChunk most_chunk;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      record.add_subcommand("repair", "Copy every good chunk of a damaged RecordIO file into a new one");
  command->add_option("file", flags->file, "Damaged file; it stays as it is")->required();
  command->add_option("output", flags->output, "File to write")->required();
  flags->most_chunk.add_to(*command);
  command->callback([flags] {
    const RecordIORepair report = repair_recordio(flags->file, flags->output, flags->most_chunk.bytes());
    for (const std::string& lost : report.lost) {
      std::fprintf(stderr, "%s: lost %s\n", flags->file.c_str(), lost.c_str());
    }
    std::printf("%s: %" PRId64 " records in %zu chunks kept, %zu parts lost\n", flags->output.c_str(), report.records,
                report.chunks, report.lost.size());
  });
}

}  // namespace tandem::data_tool
