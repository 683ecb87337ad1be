#include "elastic/rank_watch.h"

#include <algorithm>

#include "own_thread.h"

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
  const LeaseQueue queue = channel_.look();
  if (queue.generation() != channel_.generation()) return;
  std::int32_t next = channel_.rank();
  std::int64_t beats = 0;
  do {
    next = (next + 1) % channel_.world_size();
    if (next == channel_.rank()) return;
    beats = queue.is_lost(next) ? 0 : channel_.beats(next);
  } while (beats == 0);
  // Time in which this process stood still does not count: the other may have done so too.
  const Clock::time_point now = Clock::now();
  const auto passed = std::min<Clock::duration>(now - looked_, 2 * interval_);
  looked_ = now;
  if (next != watched_ || beats != beats_) {
    watched_ = next;
    beats_ = beats;
    silent_ = {};
  } else if ((silent_ += passed) > lost_after_) {
    channel_.update([&](LeaseQueue& queue) { queue.lose(channel_.generation(), next); });
  }
}

}  // namespace tandem::elastic
