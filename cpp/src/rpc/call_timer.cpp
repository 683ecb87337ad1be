#include "rpc/call_timer.h"

#include "base/own_thread.h"

namespace tandem::rpc {

CallTimer::CallTimer() : thread_(start_own_thread("rpc-timer", [this] { serve(); })) {}

CallTimer::Entry CallTimer::add(Clock::time_point when, std::function<void()> body) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Entry entry{when, next_++};
  if (closed_) return entry;
  entries_.emplace(entry, std::move(body));
  if (when < wakes_) changed_.notify_one();  // rarely: it wakes for calls that were answered, too
  return entry;
}

void CallTimer::remove(const Entry& entry) {
  std::map<Entry, std::function<void()>>::node_type removed;  // without the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  removed = entries_.extract(entry);
}

void CallTimer::serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!closed_) {
    if (!entries_.empty() && entries_.begin()->first.first <= Clock::now()) {
      auto due = entries_.extract(entries_.begin());
      lock.unlock();
      due.mapped()();
      due = {};
      lock.lock();
    } else if (entries_.empty()) {
      wakes_ = Clock::time_point::max();
      changed_.wait(lock);
    } else {
      wakes_ = entries_.begin()->first.first;
      changed_.wait_until(lock, wakes_);
    }
  }
}

void CallTimer::close() {
  std::map<Entry, std::function<void()>> dropped;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    dropped.swap(entries_);
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace tandem::rpc
