#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "base/shown_path.h"
#include "data/recordio/repair.h"
#include "data/tool/commands.h"
#include "data/tool/options.h"
#include "data/tool/progress.h"
#include "tandem/error.h"

namespace tandem::data_tool {
namespace {

struct Verified {
  std::uint64_t bytes = 0;
  std::map<std::int64_t, std::string> damaged;  // by part
};

// Calls `check` for each of `parts`, from so many threads. It returns the part's bytes.
Verified verify_parts(const std::string& file, std::int64_t parts, unsigned threads,
                      const std::function<std::uint64_t(std::int64_t)>& check) {
  Verified result;
  Progress progress(file, parts);
  std::atomic<std::int64_t> next = 0;
  std::atomic<std::uint64_t> bytes = 0;
  std::mutex mutex;
  const auto work = [&] {
    for (std::int64_t part = next++; part < parts; part = next++) {
      try {
        bytes += check(part);
      } catch (const std::exception& error) {  // memory as well: it is said of the part, and others go on
        const std::lock_guard lock(mutex);
        result.damaged[part] = error.what();
      }
      progress.add();
    }
  };
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < threads && i < parts; ++i) others.emplace_back(work);
  work();
  others.clear();  // joins
  result.bytes = bytes;
  return result;
}

void report(const std::string& file, const char* parts_name, std::int64_t parts, std::int64_t records,
            const Verified& verified) {
  for (const auto& [part, what] : verified.damaged) std::fprintf(stderr, "%s\n", what.c_str());
  if (!verified.damaged.empty()) {
    throw Error(ErrorCode::kDataLoss, file + ": " + std::to_string(verified.damaged.size()) + " of " +
                                          std::to_string(parts) + " " + parts_name + " are damaged");
  }
  std::printf("%s: %" PRId64 " records, %" PRIu64 " bytes: all %s are intact\n", file.c_str(), records, verified.bytes,
              parts_name);
}

// Where it cannot be looked through to its end that is said too: what it could not be opened for stays the error.
void say_damage(const std::string& file, const RecordIOReaderOptions& options) {
  try {
    for (const std::string& lost : recordio::scan_damage(file, options.dialect, options.most_chunk_bytes).lost) {
      std::fprintf(stderr, "%s: damaged: %s\n", file.c_str(), lost.c_str());
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
}

// That fails at the first header, footer or trailer that is damaged; all damage is said before.
RecordIOReader open_recordio(const std::string& file, const RecordIOReaderOptions& options) {
  try {
    return RecordIOReader(file, options);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kDataLoss && !is_remote(file)) {
      say_damage(file, options);
    }
    throw;
  }
}

void verify_recordio(const std::string& file, RecordIOReaderOptions options, unsigned threads) {
  options.index = false;  // what it says is to be found anew
  RecordIOReader reader = open_recordio(file, options);
  const auto chunks = static_cast<std::int64_t>(reader.chunk_count());
  const std::string name = shown_path(file);
  report(name, "chunks", chunks, reader.size(), verify_parts(name, chunks, threads, [&](std::int64_t chunk) {
           return reader.verify(static_cast<std::size_t>(chunk));
         }));
}

void verify_others(const std::string& name, const std::vector<std::string>& files, const OpenRecordsOptions& options,
                   unsigned threads) {
  const auto source = open_records(files, options);
  report(name, "records", source->size(), source->size(),
         verify_parts(name, source->size(), threads,
                      [&](std::int64_t i) { return std::uint64_t{source->read(i).bytes.size()}; }));
}

void verify_file(const std::string& file, const OpenRecordsOptions& options, unsigned threads) {
  RecordIOReaderOptions recordio;
  recordio.most_chunk_bytes = options.most_chunk_bytes;
  switch (options.format == RecordFormat::kDetect ? detect_record_format(file) : options.format) {
    case RecordFormat::kRecordIO:
      return verify_recordio(file, recordio, threads);
    case RecordFormat::kPaddle:
      recordio.dialect = RecordIODialect::kPaddle;
      return verify_recordio(file, recordio, threads);
    case RecordFormat::kPyRecordIO:
      recordio.dialect = RecordIODialect::kPyRecordIO;
      return verify_recordio(file, recordio, threads);
    default:
      return verify_others(shown_path(file), {file}, options, threads);
  }
}

}  // namespace

void add_verify(CLI::App& record) {
  struct Flags {
    Input input;
    unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      record.add_subcommand("verify", "Check every chunk and record of files and list all that are damaged");
  flags->input.add_to(*command);
  command->add_option("--threads", flags->threads, "That check at a time")->check(CLI::Range(1, 1024));
  command->callback([flags] {
    const OpenRecordsOptions options = flags->input.options();
    if (options.format == RecordFormat::kMnist) {
      return verify_others(shown_path(flags->input.paths()[0]), flags->input.paths(), options, flags->threads);
    }
    const std::vector<std::string> files = expand_record_paths(flags->input.paths());
    if (files.size() == 1) return verify_file(files[0], options, flags->threads);
    std::size_t damaged = 0;
    for (const std::string& file : files) {
      try {
        verify_file(file, options, flags->threads);
      } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        ++damaged;
      }
    }
    if (damaged > 0) {
      throw Error(ErrorCode::kDataLoss,
                  std::to_string(damaged) + " of " + std::to_string(files.size()) + " files are damaged");
    }
  });
}

}  // namespace tandem::data_tool
