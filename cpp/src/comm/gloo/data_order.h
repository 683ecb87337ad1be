// Which message's data the next receive from a rank is for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace tandem {

// Gloo matches a slot's receives with a rank's messages in order, heads and data apart. A receive from any rank knows
// whose message it has only once the head is there, and can ask for the data only then; receives that come after it
// may have got an earlier message's head. So a head carries the message's number among those of its data's slot, and
// data that is asked for late is asked for in the order of these numbers.
//
// Where no receive of a tag waits for its head, receives ask for head and data at once, in the order of the calls.
// Thread-safe.
class DataOrder {
 public:
  // The number of the next message to `rank` under `slot`. In the order of sending.
  std::uint64_t next_sent(int rank, std::uint64_t slot) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return sent_[{rank, slot}]++;
  }

  // A receive of the tag that asks for its data once it has the head.
  void begin_late(int tag) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++late_[tag];
  }
  // It has asked, or never will.
  void end_late(int tag) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--late_[tag] == 0) late_.erase(tag);
    changed_.notify_all();
  }
  bool has_late(int tag) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return late_.contains(tag);
  }

  // Asks for the data of the next message from `rank` under `slot`.
  void ask(int rank, std::uint64_t slot, const std::function<void()>& post) {
    const std::lock_guard<std::mutex> lock(mutex_);
    post();
    ++asked_[{rank, slot}];
    changed_.notify_all();
  }
  // The same for the message of that number, when all before it are asked for. `check` is called meanwhile, and may
  // throw.
  void ask(int rank, std::uint64_t slot, std::uint64_t number, const std::function<void()>& check,
           const std::function<void()>& post) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (asked_[{rank, slot}] != number) {
      lock.unlock();
      check();
      lock.lock();
      if (asked_[{rank, slot}] != number) changed_.wait_for(lock, std::chrono::milliseconds(20));
    }
    post();
    ++asked_[{rank, slot}];
    changed_.notify_all();
  }

 private:
  using Key = std::pair<int, std::uint64_t>;  // rank and slot

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, std::uint64_t> sent_, asked_;
  std::map<int, int> late_;  // receives, by tag
};

}  // namespace tandem
