#include "metrics/job/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <optional>

namespace tandem::metrics {
namespace {

template <typename... Values>
std::string print(const char* format, Values... values) {
  char text[128];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

std::string ranks_text(int count) { return std::to_string(count) + (count == 1 ? " rank" : " ranks"); }

// Cells stand to the right, but for the first `left` columns.
std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - row[i].size(), ' ');
      line += (i ? "  " : "") + (i < left ? row[i] + blanks : blanks + row[i]);
    }
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

template <typename Value, typename Text>
std::string cell(const std::optional<Value>& value, const Text& text) {
  return value ? text(*value) : "-";
}

std::string whole(std::int64_t value) { return std::to_string(value); }

}  // namespace

std::string duration_text(double seconds) {
  const auto whole_seconds = static_cast<long long>(std::clamp(seconds, 0.0, 1e12));
  return print("%lld:%02lld:%02lld", whole_seconds / 3600, whole_seconds / 60 % 60, whole_seconds % 60);
}

std::string bytes_text(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return print(unit == 0 || value >= 100 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
}

std::string number_text(double value) {
  return std::abs(value) >= 10000 && std::abs(value) < 1e12 ? print("%.0f", value) : print("%.4g", value);
}

std::string progress_line(const Job& job) {
  const auto step = step_of(job), epoch = epoch_of(job);
  if (!step && !epoch) return "";
  std::string line;
  const auto add = [&line](const std::string& text) { line += (line.empty() ? "" : ", ") + text; };
  if (epoch) add("epoch " + std::to_string(*epoch));
  if (step) add("step " + std::to_string(*step));
  if (const auto rate = samples_per_second(job)) {
    add(number_text(*rate) + " samples/s");
  } else if (const auto steps = steps_per_second(job)) {
    add(number_text(*steps) + " steps/s");
  }
  if (const auto loss = loss_of(job)) add("loss " + number_text(*loss));
  add(ranks_text(job.world_size));
  add(duration_text(job.seconds));
  if (!job.is_whole) line += " (this node)";
  return line;
}

std::string rank_table(const Job& job) {
  std::string title = job.run + ": " + job.program + " on " + job.host + ", " + ranks_text(job.world_size);
  if (job.membership_epoch > 0) title += ", membership epoch " + std::to_string(job.membership_epoch);
  if (job.restarts > 0) title += ", " + std::to_string(job.restarts) + (job.restarts == 1 ? " restart" : " restarts");
  title += ", " + duration_text(job.seconds);
  if (!job.is_whole) title += "; the ranks of this node alone";
  std::vector<std::vector<std::string>> rows = {
      {"RANK", "HOST", "PID", "EPOCH", "STEP", "SAMPLES", "SAMPLES/S", "STEPS/S", "LOSS", "WAIT", "MEMORY", "AGE"}};
  const bool has_calls = std::ranges::any_of(job.ranks, [](const Rank& rank) { return rank.calls.has_value(); });
  if (has_calls) rows[0].insert(rows[0].end() - 2, {"CALLS", "FAILED"});
  for (const Rank& rank : job.ranks) {
    rows.push_back(
        {rank.rank >= 0 ? std::to_string(rank.rank) : "-", rank.host, std::to_string(rank.pid), cell(rank.epoch, whole),
         cell(rank.step, whole), cell(rank.samples, whole), cell(rank.samples_per_second, number_text),
         cell(rank.steps_per_second, number_text), cell(rank.loss, number_text),
         cell(rank.wait_share, [](double share) { return print("%.0f%%", 100 * share); }),
         cell(rank.resident_bytes, bytes_text), cell(rank.age, [](double age) { return print("%.0f s", age); })});
    auto& row = rows.back();
    if (has_calls) row.insert(row.end() - 2, {cell(rank.calls, whole), cell(rank.failed_calls, whole)});
  }
  return title + "\n" + aligned(rows, 2);
}

std::string job_list(const std::vector<Job>& jobs) {
  std::vector<std::vector<std::string>> rows = {{"JOB", "PROGRAM", "PID", "RANKS", "TIME"}};
  for (const Job& job : jobs) {
    rows.push_back(
        {job.run, job.program, std::to_string(job.pid), std::to_string(job.world_size), duration_text(job.seconds)});
  }
  return aligned(rows, 2);
}

}  // namespace tandem::metrics
