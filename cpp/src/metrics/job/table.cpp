#include "metrics/job/table.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/descriptor.h"

namespace tandem::metrics {

std::optional<std::int64_t> resident_bytes_of(pid_t pid) {
  const Descriptor file = open_file(("/proc/" + std::to_string(pid) + "/statm").c_str(), O_RDONLY);
  char text[128] = "";
  long long pages = 0;
  if (!file.valid() || read_all(file.get(), text, sizeof text - 1) == 0) return std::nullopt;
  if (std::sscanf(text, "%*s %lld", &pages) != 1) return std::nullopt;
  return pages * sysconf(_SC_PAGESIZE);
}

void Table::started(std::int64_t worker, pid_t pid, int rank) {
  Worker& made = workers_[worker];
  made = {};
  made.pid = pid;
  made.rank = rank;
}

void Table::placed(std::int64_t worker, int rank) {
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return;
  for (auto& [number, other] : workers_) {
    if (other.rank == rank) other.rank = -1;  // until it is placed, too
  }
  found->second.rank = rank;
}

void Table::look(const PageServer& pages, std::int64_t now) {
  for (auto& [number, worker] : workers_) look(number, worker, pages, now);
}

void Table::look(std::int64_t number, Worker& worker, const PageServer& pages, std::int64_t now) {
  if (const auto reporting = pages.read(number)) {
    if (std::exchange(worker.reporting, reporting->pid) != reporting->pid) worker.rates = {};
    worker.measured = reporting->measured;
    worker.rates.look(worker.measured, now);
    worker.age = static_cast<double>(now - worker.measured.reported_at) * 1e-9;
  }
  const auto resident = resident_bytes_of(worker.reporting ? worker.reporting : worker.pid);
  if (resident.value_or(0) > 0) worker.resident_bytes = resident;  // one that is ending has none any more
}

std::optional<Rank> Table::look_at(std::int64_t number, const PageServer& pages, std::int64_t now) {
  const auto found = workers_.find(number);
  if (found == workers_.end()) return std::nullopt;
  look(number, found->second, pages, now);
  return rank_of(found->second);
}

Rank Table::rank_of(const Worker& worker) const {
  Rank one;
  one.rank = worker.rank;
  one.host = host_;
  one.pid = worker.pid;
  const Measured& measured = worker.measured;
  if (measured.step >= 0) one.step = measured.step;
  if (measured.epoch > 0) one.epoch = measured.epoch;
  if (measured.samples >= 0) one.samples = measured.samples;
  one.loss = measured.loss;
  one.wait_seconds = measured.wait_seconds;
  if (measured.calls) {
    one.calls = measured.calls->calls;
    one.failed_calls = measured.calls->failed;
    one.sent_bytes = measured.calls->bytes_sent;
    one.received_bytes = measured.calls->bytes_received;
    one.call_seconds = measured.calls->seconds;
  }
  one.steps_per_second = worker.rates.steps_per_second();
  one.samples_per_second = worker.rates.samples_per_second();
  one.wait_share = worker.rates.wait_share();
  one.resident_bytes = worker.resident_bytes;
  if (measured.reported_at > 0) one.age = std::max(worker.age, 0.0);
  return one;
}

std::vector<Rank> Table::ranks() const {
  std::vector<Rank> ranks;
  for (const auto& [number, worker] : workers_) ranks.push_back(rank_of(worker));
  sort_ranks(ranks);
  return ranks;
}

}  // namespace tandem::metrics
