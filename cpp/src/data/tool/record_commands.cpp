#include "data/tool/record_commands.h"

#include <cinttypes>
#include <cstdio>
#include <memory>

#include "data/tool/draw_digits.h"
#include "tandem/error.h"
#include "tandem/mnist.h"
#include "tandem/recordio.h"

namespace tandem {
namespace {

const char* compressor_name(Compressor compressor) {
  switch (compressor) {
    case Compressor::kNone:
      return "none";
    case Compressor::kSnappy:
      return "snappy";
    case Compressor::kGzip:
      return "gzip";
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
    std::printf("%s: %" PRId64 " records in %zu chunks\n", path->c_str(), reader.size(), reader.chunk_count());
    for (std::size_t i = 0; i < reader.chunk_count(); ++i) {
      const RecordIOChunk chunk = reader.chunk(i);
      std::printf("chunk %zu at byte %" PRIu64 ": %" PRId64 " records, %" PRIu32 " bytes, compressor %s\n", i,
                  chunk.offset, chunk.records, chunk.stored_size, compressor_name(chunk.compressor));
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
  add_digits(app);
}

}  // namespace tandem
