#include "trace/tool/trace_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/invalid.h"
#include "base/json_depth.h"

namespace tandem {

void refuse_damaged(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::kDataLoss, path + " is damaged: " + what + "; record it again, or leave it out");
}

namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr int kMostRanks = 1 << 20;

std::int64_t whole_number(const Json& from, const char* name, const std::string& path) {
  const auto found = from.find(name);
  if (found == from.end() || !found->is_number_integer()) {
    refuse_damaged(path, std::string("\"tandem\" has no whole number \"") + name + "\"");
  }
  return found->get<std::int64_t>();
}

std::string text(const Json& from, const char* name, const std::string& path) {
  const auto found = from.find(name);
  if (found == from.end() || !found->is_string()) {
    refuse_damaged(path, std::string("\"tandem\" has no text \"") + name + "\"");
  }
  return found->get<std::string>();
}

Json parse(const std::string& path, std::uint64_t most_bytes) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    throw Error(ErrorCode::kIo, "cannot read " + path + ": " + std::strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) throw Error(ErrorCode::kIo, "cannot read " + path + ": it is no file");
  if (static_cast<std::uint64_t>(info.st_size) > most_bytes) {
    invalid(path + " has " + std::to_string(info.st_size) + " bytes, and a trace to be merged at most " +
           std::to_string(most_bytes) + "; record less, or fewer events (most_events)");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::kIo, "cannot read " + path + ": " + std::strerror(errno));
  const auto shallow = [](int depth, Json::parse_event_t event, const Json&) {
    check_json_depth(depth, event);
    return true;
  };
  try {
    return Json::parse(file, shallow);
  } catch (const JsonTooDeep&) {
    refuse_damaged(path, "it is nested more than " + std::to_string(kDeepestJson) + " deep");
  } catch (const nlohmann::json::exception& error) {
    refuse_damaged(path, std::string("it is not JSON to its end (") + error.what() + ")");
  }
}

}  // namespace

TraceFile read_trace_file(const std::string& path, std::uint64_t most_bytes) {
  Json content = parse(path, most_bytes);
  if (!content.is_object() || !content.contains("traceEvents") || !content.contains("tandem") ||
      !content["tandem"].is_object()) {
    invalid(path + " is no trace that Tandem wrote: give files of stop_trace(), TANDEM_TRACE or the profiler");
  }
  const Json& about = content["tandem"];
  const std::int64_t version = whole_number(about, "version", path);
  if (version != kVersion) {
    invalid(path + " is of version " + std::to_string(version) + ", and this `tandem` reads " +
           std::to_string(kVersion) + "; use the `tandem` that belongs to the program");
  }
  TraceFile trace;
  trace.path = path;
  trace.kind = text(about, "kind", path);
  if (trace.kind != kTraceKind && trace.kind != kProfileKind) {
    invalid(path + " is of kind \"" + trace.kind + "\"; give the files that ranks wrote");
  }
  trace.run = text(about, "run", path);
  const std::int64_t rank = whole_number(about, "rank", path), size = whole_number(about, "world_size", path);
  if (size < 1 || size > kMostRanks || rank < 0 || rank >= size) {
    refuse_damaged(path, "it says that it is rank " + std::to_string(rank) + " of " + std::to_string(size));
  }
  trace.rank = static_cast<int>(rank);
  trace.world_size = static_cast<int>(size);
  trace.shift_ns = whole_number(about, "shift_ns", path);
  // Kineto's times are since this one.
  if (content.contains("baseTimeNanoseconds")) {
    if (!content["baseTimeNanoseconds"].is_number_integer()) {
      refuse_damaged(path, "its \"baseTimeNanoseconds\" are no number");
    }
    trace.shift_ns += content["baseTimeNanoseconds"].get<std::int64_t>();
  }
  trace.dropped = whole_number(about, "dropped", path);
  trace.error_ns = whole_number(about, "clock_error_ns", path);
  trace.events = std::move(content["traceEvents"]);
  if (!trace.events.is_array()) refuse_damaged(path, "its \"traceEvents\" are no list");
  return trace;
}

}  // namespace tandem
