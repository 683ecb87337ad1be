#include "elastic/rank_watch.h"

#include <algorithm>
#include <utility>

#include "base/own_thread.h"

namespace tandem::elastic {

using std::chrono::milliseconds;

RankWatch::RankWatch(LeaseChannel& channel, milliseconds lost_after)
    : channel_(channel), lost_after_(lost_after), interval_(std::max<milliseconds>(lost_after / 5, milliseconds(1))) {
  // Before anything is leased: nobody misses a rank that never gave a sign.
  channel_.beat();
  thread_ = start_own_thread("tandem-leases", [this] { run(); });
}

RankWatch::~RankWatch() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void RankWatch::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ends_) {
    lock.unlock();
    try {
      look_after();
    } catch (const std::exception&) {
      // The store is gone, which the loader's next call says.
    }
    lock.lock();
    changed_.wait_for(lock, interval_, [this] { return ends_; });
  }
}

void RankWatch::look_after() {
  channel_.beat();
  const LeaseQueue queue = channel_.read();
  if (queue.generation() != channel_.generation()) return;
  // Time in which this process stood still does not count: the other may have done so too.
  const Clock::time_point now = Clock::now();
  const auto passed = std::min<Clock::duration>(now - looked_, 2 * interval_);
  looked_ = now;
  std::map<std::int32_t, Watched> watched;
  bool is_silent = false;  // a rank before the next
  const std::int32_t world = channel_.world_size();
  for (std::int32_t next = (channel_.rank() + 1) % world; next != channel_.rank(); next = (next + 1) % world) {
    const std::int64_t beats = queue.is_lost(next) ? 0 : channel_.beats(next);
    if (beats == 0) continue;
    const auto before = watched_.find(next);
    const bool known = before != watched_.end(), lives = known && before->second.beats != beats;
    const Clock::duration silent = known && !lives ? before->second.silent + passed : Clock::duration{};
    watched[next] = {beats, silent};
    // A look or two without a sign is no silence yet: looks and signs come equally often.
    is_silent = is_silent || silent > lost_after_ / 3;
    if (lives || !is_silent) break;
  }
  watched_ = std::move(watched);
  const auto is_lost = [this](const auto& entry) { return entry.second.silent > lost_after_; };
  if (std::ranges::none_of(watched_, is_lost)) return;
  channel_.update([&](LeaseQueue& queue) {
    for (const auto& entry : watched_) {
      if (is_lost(entry)) queue.lose(channel_.generation(), entry.first);
    }
  });
}

}  // namespace tandem::elastic
