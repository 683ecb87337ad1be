#include "launch/summary_log.h"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <utility>

#include "base/host.h"
#include "launch/supervised.h"
#include "summary/messages.h"
#include "tandem/error.h"

namespace tandem::launch {
namespace {

constexpr std::chrono::seconds kWriteEvery{5};
constexpr int kMostLoggedRanks = 64;

std::string new_file_in(const std::string& folder) {
  char name[384];
  std::snprintf(name, sizeof name, "/events.out.tfevents.%010" PRId64 ".%s.%d.0.tandem",
                static_cast<std::int64_t>(now_seconds()), host_name().c_str(), static_cast<int>(getpid()));
  return folder + name;
}

}  // namespace

SummaryLog::SummaryLog(const std::string& folder) : file_(new_file_in(folder)) {
  file_.append(version_event(now_seconds()));
}

void SummaryLog::add(const std::string& tag, double value, std::int64_t step) {
  file_.append(summary_event(now_seconds(), step, scalar_summary(tag, static_cast<float>(value))));
}

void SummaryLog::look(const metrics::Job& job, Time now, bool is_last) {
  if (!is_last && next_ && now < *next_) return;
  next_ = now + kWriteEvery;
  const auto step = metrics::step_of(job);
  if (!step) return;
  if (std::exchange(last_step_, *step) != *step) {
    const std::pair<const char*, std::optional<double>> values[] = {
        {"job/loss", metrics::loss_of(job)},
        {"job/samples_per_second", metrics::samples_per_second(job)},
        {"job/steps_per_second", metrics::steps_per_second(job)},
        {"job/epoch", metrics::epoch_of(job)},
        {"job/world_size", job.world_size},
        {"job/membership_epoch", static_cast<double>(job.membership_epoch)},
    };
    for (const auto& [tag, value] : values) {
      if (value) add(tag, *value, *step);
    }
  }
  for (const metrics::Rank& rank : job.ranks) {
    if (rank.rank < 0 || rank.rank >= kMostLoggedRanks || !rank.step) continue;
    const auto [last, is_new] = last_steps_.try_emplace(rank.rank, -1);
    if (std::exchange(last->second, *rank.step) == *rank.step) continue;
    const std::pair<const char*, std::optional<double>> values[] = {
        {"loss", rank.loss},
        {"samples_per_second", rank.samples_per_second},
        {"wait_share", rank.wait_share},
        {"resident_memory_bytes", rank.resident_bytes},
    };
    for (const auto& [name, value] : values) {
      if (value) add(std::string(name) + "/rank_" + std::to_string(rank.rank), *value, *rank.step);
    }
  }
}

}  // namespace tandem::launch
