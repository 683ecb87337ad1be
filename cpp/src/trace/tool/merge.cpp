#include "trace/tool/merge.h"

#include <sys/stat.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/atomic_file.h"
#include "base/json_depth.h"
#include "tandem/error.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr int kMostRanks = 1 << 20;
constexpr std::size_t kPiece = 1 << 20;
// Chrome's viewer and Perfetto have 32 bits for processes.
constexpr std::int64_t kProcessesOfAFile = 500;
constexpr const char* kTrace = "trace";
constexpr const char* kProfile = "profile";

[[noreturn]] void damaged(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::kDataLoss, path + " is damaged: " + what + "; record it again, or leave it out");
}
[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, what);
}

struct Trace {
  std::string path, kind, run;
  int rank = 0;
  int world_size = 0;
  std::int64_t shift_ns = 0, dropped = 0, error_ns = 0;
  Json events;
};

std::int64_t whole_number(const Json& from, const char* name, const std::string& path) {
  const auto found = from.find(name);
  if (found == from.end() || !found->is_number_integer()) {
    damaged(path, std::string("\"tandem\" has no whole number \"") + name + "\"");
  }
  return found->get<std::int64_t>();
}

std::string text(const Json& from, const char* name, const std::string& path) {
  const auto found = from.find(name);
  if (found == from.end() || !found->is_string()) damaged(path, std::string("\"tandem\" has no text \"") + name + "\"");
  return found->get<std::string>();
}

Json parse(const std::string& path, std::uint64_t most_bytes) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    throw Error(ErrorCode::kIo, "cannot read " + path + ": " + std::strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) throw Error(ErrorCode::kIo, "cannot read " + path + ": it is no file");
  if (static_cast<std::uint64_t>(info.st_size) > most_bytes) {
    refuse(path + " has " + std::to_string(info.st_size) + " bytes, and a trace to be merged at most " +
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
    damaged(path, "it is nested more than " + std::to_string(kDeepestJson) + " deep");
  } catch (const nlohmann::json::exception& error) {
    damaged(path, std::string("it is not JSON to its end (") + error.what() + ")");
  }
}

Trace read(const std::string& path, std::uint64_t most_bytes) {
  Json content = parse(path, most_bytes);
  if (!content.is_object() || !content.contains("traceEvents") || !content.contains("tandem") ||
      !content["tandem"].is_object()) {
    refuse(path + " is no trace that Tandem wrote: give files of stop_trace(), TANDEM_TRACE or the profiler");
  }
  const Json& about = content["tandem"];
  const std::int64_t version = whole_number(about, "version", path);
  if (version != kVersion) {
    refuse(path + " is of version " + std::to_string(version) + ", and this `tandem` reads " +
           std::to_string(kVersion) + "; use the `tandem` that belongs to the program");
  }
  Trace trace;
  trace.path = path;
  trace.kind = text(about, "kind", path);
  if (trace.kind != kTrace && trace.kind != kProfile) {
    refuse(path + " is of kind \"" + trace.kind + "\"; give the files that ranks wrote");
  }
  trace.run = text(about, "run", path);
  const std::int64_t rank = whole_number(about, "rank", path), size = whole_number(about, "world_size", path);
  if (size < 1 || size > kMostRanks || rank < 0 || rank >= size) {
    damaged(path, "it says that it is rank " + std::to_string(rank) + " of " + std::to_string(size));
  }
  trace.rank = static_cast<int>(rank);
  trace.world_size = static_cast<int>(size);
  trace.shift_ns = whole_number(about, "shift_ns", path);
  // Kineto's times are since this one.
  if (content.contains("baseTimeNanoseconds")) {
    if (!content["baseTimeNanoseconds"].is_number_integer()) damaged(path, "its \"baseTimeNanoseconds\" are no number");
    trace.shift_ns += content["baseTimeNanoseconds"].get<std::int64_t>();
  }
  trace.dropped = whole_number(about, "dropped", path);
  trace.error_ns = whole_number(about, "clock_error_ns", path);
  trace.events = std::move(content["traceEvents"]);
  if (!trace.events.is_array()) damaged(path, "its \"traceEvents\" are no list");
  return trace;
}

// Which number each process of a file has in the whole.
class Processes {
 public:
  // A rank's trace comes before its profile.
  explicit Processes(const Trace& trace)
      : trace_(trace), first_(kProcessesOfAFile * (2 * trace.rank + (trace.kind == kProfile))) {}

  std::int64_t number_of(const Json& process) {
    const auto next = static_cast<std::int64_t>(numbers_.size());
    const auto [found, is_new] = numbers_.emplace(process.dump(), first_ + next);
    if (is_new && next >= kProcessesOfAFile) damaged(trace_.path, "it has more processes than a rank can have");
    return found->second;
  }

 private:
  const Trace& trace_;
  const std::int64_t first_;
  std::map<std::string, std::int64_t> numbers_;
};

void place(Json& event, std::size_t index, Trace& trace, Processes& processes) {
  const auto wrong = [&](const char* what) { damaged(trace.path, "event " + std::to_string(index) + " " + what); };
  if (!event.is_object()) wrong("is no object");
  const auto phase = event.find("ph");
  if (phase == event.end() || !phase->is_string()) wrong("has no phase");
  const bool is_metadata = *phase == "M";
  const auto time = event.find("ts");
  if (time == event.end() ? !is_metadata : !time->is_number()) wrong("has no time");
  if (time != event.end() && trace.shift_ns != 0) {
    *time = time->get<double>() + static_cast<double>(trace.shift_ns) / 1000;
  }
  const Json process = event.contains("pid") ? event["pid"] : Json(0);
  event["pid"] = processes.number_of(process);
  if (event.contains("id")) {
    const Json& id = event["id"];
    event["id"] =
        std::to_string(trace.rank) + "." + trace.kind + "." + (id.is_string() ? id.get<std::string>() : id.dump());
  }
  if (is_metadata && event.contains("name") && event.contains("args") && event["args"].is_object()) {
    Json& arguments = event["args"];
    if (event["name"] == "process_name" && trace.kind == kProfile) {
      const std::string name = arguments.contains("name") && arguments["name"].is_string()
                                   ? arguments["name"].get<std::string>()
                                   : std::string();
      arguments["name"] = "rank " + std::to_string(trace.rank) + ", " + trace.kind + ": " + name;
    }
    if (event["name"] == "process_sort_index") arguments["sort_index"] = event["pid"];
  }
}

std::string listed(const std::vector<int>& ranks) {
  constexpr std::size_t kShown = 16;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < std::min(ranks.size(), kShown); ++i) text += (i ? ", " : "") + std::to_string(ranks[i]);
  if (ranks.size() > kShown) text += " and " + std::to_string(ranks.size() - kShown) + " more";
  return text;
}

}  // namespace

MergeResult merge_traces(const std::vector<std::string>& files, const std::string& out, const MergeOptions& options) {
  if (files.empty()) refuse("no trace to merge; name one a rank");
  MergeResult result;
  AtomicFile merged(out);
  std::string text = "{\"displayTimeUnit\": \"ms\",\n\"traceEvents\": [";
  std::string run, first_path;
  int world_size = 0;
  std::map<std::pair<int, std::string>, std::string> seen;
  std::set<int> ranks;
  for (const std::string& path : files) {
    Trace trace = read(path, options.most_bytes);
    if (first_path.empty()) {
      run = trace.run;
      world_size = trace.world_size;
      first_path = path;
    }
    if (trace.run != run || trace.world_size != world_size) {
      refuse(path + " is of run " + trace.run + " with " + std::to_string(trace.world_size) + " ranks, but " +
             first_path + " of run " + run + " with " + std::to_string(world_size) +
             "; their clocks have nothing in common: merge files of one run");
    }
    const auto [other, is_new] = seen.emplace(std::pair(trace.rank, trace.kind), path);
    if (!is_new) {
      refuse(path + " and " + other->second + " are both the " + trace.kind + " of rank " + std::to_string(trace.rank) +
             "; leave one out");
    }
    ranks.insert(trace.rank);
    result.dropped += trace.dropped;
    result.clock_error_ns = std::max(result.clock_error_ns, trace.error_ns);
    Processes processes(trace);
    std::size_t index = 0;
    for (Json& event : trace.events) {
      place(event, index++, trace, processes);
      text += (result.events++ == 0 ? "\n" : ",\n") + event.dump();
      event = nullptr;
      if (text.size() < kPiece) continue;
      merged.append(text.data(), text.size());
      text.clear();
    }
  }
  std::vector<int> missing;
  for (int rank = 0; rank < world_size; ++rank) {
    if (!ranks.count(rank)) missing.push_back(rank);
  }
  if (!missing.empty() && !options.allow_missing) {
    refuse("the trace of " + listed(missing) + " of run " + run + " is missing; name it, or give --allow-missing");
  }
  result.ranks.assign(ranks.begin(), ranks.end());
  const Json about = {{"version", kVersion},      {"kind", "merged"},      {"run", run},
                      {"world_size", world_size}, {"ranks", result.ranks}, {"clock_error_ns", result.clock_error_ns},
                      {"dropped", result.dropped}};
  text += "\n],\n\"tandem\": " + about.dump() + "}\n";
  merged.append(text.data(), text.size());
  merged.commit();
  return result;
}

}  // namespace tandem
