#include "trace/tool/pipeline_picture.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "base/invalid.h"
#include "trace/tool/trace_file.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

struct Piece {
  double begun = 0, ended = 0;  // microseconds
  bool is_forward = false;
  std::int64_t micro_batch = 0;
};
using Rows = std::map<std::pair<std::int64_t, int>, std::vector<Piece>>;  // by stage and rank
using Steps = std::map<std::int64_t, Rows>;

std::int64_t number_in(const Json& arguments, const char* name) {
  const auto found = arguments.find(name);
  return found != arguments.end() && found->is_number_integer() ? found->get<std::int64_t>() : -1;
}

// What a trace has of pipelines' stages; gives the numbers of its steps.
std::set<std::int64_t> collect(const TraceFile& trace, Steps* steps) {
  std::set<std::int64_t> found;
  for (const Json& event : trace.events) {
    if (!event.is_object() || event.value("ph", Json()) != "X" || !event.contains("args")) continue;
    const Json& arguments = event["args"];
    const Json name = event.value("name", Json()), begun = event.value("ts", Json()), length = event.value("dur", Json());
    if (!arguments.is_object() || !name.is_string() || !begun.is_number() || !length.is_number()) continue;
    const std::int64_t step = number_in(arguments, "step"), stage = number_in(arguments, "stage");
    Piece piece;
    piece.micro_batch = number_in(arguments, "micro_batch");
    if (step < 0 || stage < 0 || piece.micro_batch < 0) continue;
    piece.is_forward = name.get_ref<const std::string&>().starts_with("forward");
    piece.begun = begun.get<double>() + static_cast<double>(trace.shift_ns) / 1000;
    piece.ended = piece.begun + length.get<double>();
    (*steps)[step][{stage, trace.rank}].push_back(piece);
    found.insert(step);
  }
  return found;
}

char letter_of(const Piece& piece) {
  const std::int64_t number = piece.micro_batch;
  if (!piece.is_forward) return number < 26 ? static_cast<char>('a' + number) : '+';
  if (number < 10) return static_cast<char>('0' + number);
  return number < 36 ? static_cast<char>('A' + number - 10) : '*';
}

}  // namespace

std::string pipeline_picture(const std::vector<std::string>& files, const PictureOptions& options) {
  if (files.empty()) invalid("no trace; name one a rank");
  if (options.width < 20 || options.width > 1000) {
    invalid("the width is " + std::to_string(options.width) + "; give 20 to 1000 columns");
  }
  Steps steps;
  std::set<std::int64_t> common;
  std::string run;
  std::set<int> ranks;
  for (const std::string& path : files) {
    const TraceFile trace = read_trace_file(path, options.most_bytes);
    if (trace.kind != kTraceKind) invalid(path + " is a " + trace.kind + "; give the traces of ranks");
    if (!ranks.empty() && trace.run != run) invalid(path + " is of run " + trace.run + ", the first file of run " + run);
    if (!ranks.insert(trace.rank).second) invalid(path + " is the second trace of rank " + std::to_string(trace.rank));
    run = trace.run;
    const std::set<std::int64_t> own = collect(trace, &steps);
    if (own.empty()) invalid(path + " has no pipeline's stages");
    if (ranks.size() == 1) common = own;
    std::erase_if(common, [&](std::int64_t step) { return !own.contains(step); });
  }
  const std::int64_t step = options.step >= 0 || common.empty() ? options.step : *common.rbegin();
  if (!common.contains(step)) {
    invalid(step < 0 ? "no step is in all of the files"
                     : "step " + std::to_string(step) + " is not in all of the files; they have " +
                           (common.empty() ? std::string("none in common")
                                           : std::to_string(*common.begin()) + " to " + std::to_string(*common.rbegin())));
  }
  const Rows& rows = steps[step];
  double begin = 0, end = 0, busy = 0;
  bool is_first = true;
  for (const auto& [place, pieces] : rows) {
    for (const Piece& piece : pieces) {
      begin = is_first ? piece.begun : std::min(begin, piece.begun);
      end = is_first ? piece.ended : std::max(end, piece.ended);
      busy += piece.ended - piece.begun;
      is_first = false;
    }
  }
  const double length = std::max(end - begin, 1e-3);
  char line[160];
  std::snprintf(line, sizeof line, "step %lld: %.3f ms, of which %zu ranks wait %.1f %% (the bubble)\n",
                static_cast<long long>(step), length / 1000, ranks.size(),
                100 * (1 - busy / (length * static_cast<double>(ranks.size()))));
  std::string text = line;
  for (const auto& [place, pieces] : rows) {
    std::string row(static_cast<std::size_t>(options.width), '.');
    for (const Piece& piece : pieces) {
      const auto column = [&](double time) {
        return std::clamp(static_cast<int>((time - begin) / length * options.width), 0, options.width);
      };
      // A short one is seen, too.
      const int from = std::min(column(piece.begun), options.width - 1), to = std::max(column(piece.ended), from + 1);
      std::fill(row.begin() + from, row.begin() + to, letter_of(piece));
    }
    std::snprintf(line, sizeof line, "stage %lld, rank %d ", static_cast<long long>(place.first), place.second);
    text += std::string(line) + "|" + row + "|\n";
  }
  return text;
}

}  // namespace tandem
