#include <cinttypes>
#include <cstdio>
#include <memory>

#include "base/shown_path.h"
#include "data/tool/commands.h"
#include "data/tool/options.h"
#include "tandem/error.h"

namespace tandem::data_tool {
namespace {

void show_recordio(const std::string& path, const RecordIOReaderOptions& options) {
  constexpr const char* kDialects[] = {"", ", as Paddle fluid writes it", ", as pyrecordio writes it"};
  const RecordIOReader reader(path, options);
  std::printf("%s: RecordIO v%d%s, %" PRId64 " records in %zu chunks\n", shown_path(path).c_str(), reader.version(),
              kDialects[static_cast<int>(reader.dialect())], reader.size(), reader.chunk_count());
  if (!reader.metadata().schema.empty()) std::printf("schema: %s\n", reader.metadata().schema.c_str());
  for (const auto& [key, value] : reader.metadata().user) std::printf("%s: %s\n", key.c_str(), value.c_str());
  for (std::size_t i = 0; i < reader.chunk_count(); ++i) {
    const RecordIOChunk chunk = reader.chunk(i);
    std::printf("chunk %zu at byte %" PRIu64 ": %" PRId64 " records, %" PRIu64 " bytes, compressor %s\n", i,
                chunk.offset, chunk.records, chunk.stored_size, compressor_name(chunk.compressor).c_str());
  }
}

}  // namespace

void add_info(CLI::App& record) {
  auto input = std::make_shared<Input>();
  CLI::App* command = record.add_subcommand("info", "Say what format files are in and what their headers declare");
  input->add_to(*command);
  command->callback([input] {
    const OpenRecordsOptions options = input->options();
    if (options.format == RecordFormat::kMnist) {
      std::printf("mnist, %" PRId64 " records\n", input->open()->size());
      return;
    }
    for (const std::string& file : expand_record_paths(input->paths())) {
      const RecordFormat format = options.format == RecordFormat::kDetect ? detect_record_format(file) : options.format;
      if (format == RecordFormat::kRecordIO) {
        show_recordio(file, {});
      } else if (format == RecordFormat::kPaddle) {
        show_recordio(file, {RecordIODialect::kPaddle});
      } else if (format == RecordFormat::kPyRecordIO) {
        show_recordio(file, {RecordIODialect::kPyRecordIO});
      } else {
        std::printf("%s: %s, %" PRId64 " records\n", shown_path(file).c_str(), record_format_name(format).c_str(),
                    open_records({file}, options)->size());
      }
    }
  });
}

void add_cat(CLI::App& record) {
  struct Flags {
    Input input;
    Range range;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = record.add_subcommand("cat", "Write records to standard output as they are, one a line");
  flags->input.add_to(*command);
  flags->range.add_to(*command);
  command->callback([flags] {
    const auto source = flags->input.open();
    const std::int64_t end = flags->range.end(source->size(), flags->input.paths()[0]);
    for (std::int64_t i = flags->range.begin(); i < end; ++i) {
      const Record record = source->read(i);
      const auto bytes = record.bytes;
      if (!bytes.empty()) std::fwrite(bytes.data(), 1, bytes.size(), stdout);  // of an empty one the address may be null
      if (std::putchar('\n') == EOF || std::ferror(stdout) != 0) break;
    }
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      throw Error(ErrorCode::kIo, "standard output cannot be written");
    }
    require_all_read("what was written");
  });
}

}  // namespace tandem::data_tool
