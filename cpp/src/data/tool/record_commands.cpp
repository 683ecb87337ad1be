#include "data/tool/record_commands.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/tool/draw_digits.h"
#include "tandem/error.h"
#include "tandem/mnist.h"
#include "tandem/recordio.h"

namespace tandem {
namespace {

const std::map<std::string, Compressor> kCompressors = {{"none", Compressor::kNone},
                                                        {"snappy", Compressor::kSnappy},
                                                        {"gzip", Compressor::kGzip},
                                                        {"zstd", Compressor::kZstd}};

std::string compressor_name(Compressor compressor) {
  for (const auto& [name, named] : kCompressors) {
    if (named == compressor) return name;
  }
  return "?";
}

void add_import_mnist(CLI::App& record) {
  struct Flags {
    std::string images, labels, output;
    std::int64_t begin = 0, count = -1;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = record.add_subcommand("import-mnist", "Convert a pair of MNIST's IDX files to RecordIO");
  command->add_option("--images", flags->images, "IDX file of images, plain or .gz")->required();
  command->add_option("--labels", flags->labels, "IDX file of labels, plain or .gz")->required();
  command->add_option("--output", flags->output, "RecordIO file to write")->required();
  command->add_option("--begin", flags->begin, "First sample")->capture_default_str();
  command->add_option("--count", flags->count, "Number of samples; -1 for all that follow")->capture_default_str();
  command->callback([flags] {
    const std::int64_t written =
        mnist_to_recordio(flags->images, flags->labels, flags->output, flags->begin, flags->count);
    std::printf("%s: %" PRId64 " records\n", flags->output.c_str(), written);
  });
}

void add_info(CLI::App& record) {
  auto path = std::make_shared<std::string>();
  CLI::App* command = record.add_subcommand("info", "List a RecordIO file's chunks, as their headers have them");
  command->add_option("file", *path, "RecordIO file")->required();
  command->callback([path] {
    const RecordIOReader reader(*path);
    std::printf("%s: RecordIO v%d, %" PRId64 " records in %zu chunks\n", path->c_str(), reader.version(), reader.size(),
                reader.chunk_count());
    if (!reader.metadata().schema.empty()) std::printf("schema: %s\n", reader.metadata().schema.c_str());
    for (const auto& [key, value] : reader.metadata().user) std::printf("%s: %s\n", key.c_str(), value.c_str());
    for (std::size_t i = 0; i < reader.chunk_count(); ++i) {
      const RecordIOChunk chunk = reader.chunk(i);
      std::printf("chunk %zu at byte %" PRIu64 ": %" PRId64 " records, %" PRIu64 " bytes, compressor %s\n", i,
                  chunk.offset, chunk.records, chunk.stored_size, compressor_name(chunk.compressor).c_str());
    }
  });
}

void add_verify(CLI::App& record) {
  auto path = std::make_shared<std::string>();
  CLI::App* command = record.add_subcommand("verify", "Check every chunk of a RecordIO file");
  command->add_option("file", *path, "RecordIO file")->required();
  command->callback([path] {
    RecordIOReader reader(*path);
    std::uint64_t bytes = 0;
    std::size_t damaged = 0;
    for (std::size_t i = 0; i < reader.chunk_count(); ++i) {
      try {
        bytes += reader.verify(i);
      } catch (const Error& error) {
        ++damaged;
        std::fprintf(stderr, "%s\n", error.what());
      }
    }
    if (damaged > 0) {
      throw Error(ErrorCode::kDataLoss, *path + ": " + std::to_string(damaged) + " of " +
                                            std::to_string(reader.chunk_count()) + " chunks are damaged");
    }
    std::printf("%s: %" PRId64 " records, %" PRIu64 " bytes: all chunks are intact\n", path->c_str(), reader.size(),
                bytes);
  });
}

void add_repair(CLI::App& record) {
  struct Flags {
    std::string file, output;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      record.add_subcommand("repair", "Copy every good chunk of a damaged RecordIO file into a new one");
  command->add_option("file", flags->file, "Damaged file; it stays as it is")->required();
  command->add_option("output", flags->output, "File to write")->required();
  command->callback([flags] {
    const RecordIORepair report = repair_recordio(flags->file, flags->output);
    for (const std::string& lost : report.lost) {
      std::fprintf(stderr, "%s: lost %s\n", flags->file.c_str(), lost.c_str());
    }
    std::printf("%s: %" PRId64 " records in %zu chunks kept, %zu parts lost\n", flags->output.c_str(), report.records,
                report.chunks, report.lost.size());
  });
}

void add_convert(CLI::App& record) {
  struct Flags {
    std::vector<std::string> files;
    std::string output;
    RecordIOWriterOptions options;
    double chunk_mb = 32;
    std::vector<std::string> metadata;
  };
  auto flags = std::make_shared<Flags>();
  flags->options.version = 2;
  CLI::App* command = record.add_subcommand(
      "convert", "Write the records of RecordIO files, of any version and one after another, to one");
  command->add_option("files", flags->files, "Files to read")->required();
  command->add_option("-o,--output", flags->output, "File to write")->required();
  command->add_option("--version", flags->options.version, "Of RecordIO: 1 or 2")
      ->capture_default_str()
      ->check(CLI::Range(1, 2));
  command->add_option("--compressor", flags->options.compressor, "Of version 1: none, snappy, gzip; of 2: none, zstd")
      ->transform(CLI::CheckedTransformer(kCompressors))
      ->default_str("none");
  command->add_option("--level", flags->options.level, "Of zstd, 1 to 19")->capture_default_str();
  command->add_option("--alignment", flags->options.alignment, "Of records in version 2, in bytes")
      ->capture_default_str();
  command->add_option("--chunk-mb", flags->chunk_mb, "MiB of records in a chunk")
      ->capture_default_str()
      ->check(CLI::Range(1e-3, 1024.0));
  command->add_option("--metadata", flags->metadata, "KEY=VALUE, for version 2; may be given several times")
      ->allow_extra_args(false);
  command->callback([flags] {
    RecordIOWriterOptions options = flags->options;
    options.chunk_bytes = static_cast<std::uint64_t>(flags->chunk_mb * 1024 * 1024);
    for (const std::string& pair : flags->metadata) {
      const auto at = pair.find('=');
      if (at == std::string::npos) throw Error(ErrorCode::kInvalidArgument, "--metadata " + pair + " is no KEY=VALUE");
      options.metadata.user[pair.substr(0, at)] = pair.substr(at + 1);
    }
    std::vector<std::unique_ptr<RecordIOReader>> readers;
    for (const std::string& file : flags->files) {
      RecordIOReader& reader = *readers.emplace_back(std::make_unique<RecordIOReader>(file));
      // What one file says of its records is not known to be true of all.
      if (flags->files.size() > 1 || options.version == 1) continue;
      options.metadata.schema = reader.metadata().schema;
      for (const auto& [key, value] : reader.metadata().user) options.metadata.user.emplace(key, value);
    }
    RecordIOWriter writer(flags->output, options);
    for (auto& reader : readers) {
      for (std::int64_t i = 0; i < reader->size(); ++i) writer.write((*reader)[i]);
      reader.reset();
    }
    writer.close();
    std::printf("%s: %" PRId64 " records\n", flags->output.c_str(), writer.written());
  });
}

void add_cat(CLI::App& record) {
  struct Flags {
    std::string file;
    std::int64_t begin = 0, count = -1;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = record.add_subcommand("cat", "Write records to standard output as they are, one a line");
  command->add_option("file", flags->file, "RecordIO file")->required();
  command->add_option("--begin", flags->begin, "First record")->capture_default_str();
  command->add_option("--count", flags->count, "Number of records; -1 for all that follow")->capture_default_str();
  command->callback([flags] {
    RecordIOReader reader(flags->file);
    if (flags->begin < 0 || flags->begin > reader.size()) {
      throw Error(ErrorCode::kOutOfRange, flags->file + " has " + std::to_string(reader.size()) +
                                              " records; there is no record " + std::to_string(flags->begin));
    }
    const std::int64_t rest = reader.size() - flags->begin;
    const std::int64_t count = flags->count < 0 ? rest : std::min(flags->count, rest);
    for (std::int64_t i = flags->begin; i < flags->begin + count; ++i) {
      const auto bytes = reader[i];
      if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() || std::putchar('\n') == EOF) break;
    }
    if (std::fflush(stdout) != 0) throw Error(ErrorCode::kIo, "standard output cannot be written");
  });
}

void add_digits(CLI::App& app) {
  struct Flags {
    std::string folder;
    std::uint32_t train = 12000, test = 2000;
    std::uint64_t seed = 1;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("digits", "Draw handwritten-like digits as MNIST's four IDX files");
  command->add_option("folder", flags->folder, "Where to write them")->required();
  // Whole files are made in memory.
  command->add_option("--train", flags->train, "Digits to train on")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  command->add_option("--test", flags->test, "Digits to test on")->capture_default_str()->check(CLI::Range(1, 1000000));
  command->add_option("--seed", flags->seed, "The same seed draws the same digits")->capture_default_str();
  command->callback([flags] {
    data_tool::write_digits(flags->folder, flags->train, flags->test, flags->seed);
    std::printf("%s: %" PRIu32 " digits to train on, %" PRIu32 " to test on\n", flags->folder.c_str(), flags->train,
                flags->test);
  });
}

}  // namespace

void add_record_commands(CLI::App& app) {
  CLI::App* record = app.add_subcommand("record", "Make and check RecordIO files");
  record->require_subcommand(1);
  add_import_mnist(*record);
  add_info(*record);
  add_verify(*record);
  add_repair(*record);
  add_convert(*record);
  add_cat(*record);
  add_digits(app);
}

}  // namespace tandem
