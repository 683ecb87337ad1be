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
#include "base/invalid.h"
#include "trace/tool/trace_file.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMergedVersion = 1;
constexpr std::size_t kPiece = 1 << 20;
// Chrome's viewer and Perfetto have 32 bits for processes.
constexpr std::int64_t kProcessesOfAFile = 500;

// Which number each process of a file has in the whole.
class Processes {
 public:
  // A rank's trace comes before its profile.
  explicit Processes(const TraceFile& trace)
      : trace_(trace), first_(kProcessesOfAFile * (2 * trace.rank + (trace.kind == kProfileKind))) {}

  std::int64_t number_of(const Json& process) {
    const auto next = static_cast<std::int64_t>(numbers_.size());
    const auto [found, is_new] = numbers_.emplace(process.dump(), first_ + next);
    if (is_new && next >= kProcessesOfAFile) refuse_damaged(trace_.path, "it has more processes than a rank can have");
    return found->second;
  }

 private:
  const TraceFile& trace_;
  const std::int64_t first_;
  std::map<std::string, std::int64_t> numbers_;
};

void place(Json& event, std::size_t index, TraceFile& trace, Processes& processes) {
  const auto wrong = [&](const char* what) { refuse_damaged(trace.path, "event " + std::to_string(index) + " " + what); };
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
    if (event["name"] == "process_name" && trace.kind == kProfileKind) {
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
  if (files.empty()) invalid("no trace to merge; name one a rank");
  MergeResult result;
  AtomicFile merged(out);
  std::string text = "{\"displayTimeUnit\": \"ms\",\n\"traceEvents\": [";
  std::string run, first_path;
  int world_size = 0;
  std::map<std::pair<int, std::string>, std::string> seen;
  std::set<int> ranks;
  for (const std::string& path : files) {
    TraceFile trace = read_trace_file(path, options.most_bytes);
    if (first_path.empty()) {
      run = trace.run;
      world_size = trace.world_size;
      first_path = path;
    }
    if (trace.run != run || trace.world_size != world_size) {
      invalid(path + " is of run " + trace.run + " with " + std::to_string(trace.world_size) + " ranks, but " +
             first_path + " of run " + run + " with " + std::to_string(world_size) +
             "; their clocks have nothing in common: merge files of one run");
    }
    const auto [other, is_new] = seen.emplace(std::pair(trace.rank, trace.kind), path);
    if (!is_new) {
      invalid(path + " and " + other->second + " are both the " + trace.kind + " of rank " + std::to_string(trace.rank) +
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
    invalid("the trace of " + listed(missing) + " of run " + run + " is missing; name it, or give --allow-missing");
  }
  result.ranks.assign(ranks.begin(), ranks.end());
  const Json about = {{"version", kMergedVersion},      {"kind", "merged"},      {"run", run},
                      {"world_size", world_size}, {"ranks", result.ranks}, {"clock_error_ns", result.clock_error_ns},
                      {"dropped", result.dropped}};
  text += "\n],\n\"tandem\": " + about.dump() + "}\n";
  merged.append(text.data(), text.size());
  merged.commit();
  return result;
}

}  // namespace tandem
