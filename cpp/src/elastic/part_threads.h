// Threads that lease this rank's parts and make batches of them, ahead of their use.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "elastic/part_source.h"

namespace tandem::elastic {

struct MadePart {
  Lease lease;
  LoadedBatch batch;
};

class PartThreads {
 public:
  struct Options {
    int threads;
    int prefetch;  // parts that are ready or being made while nobody waits
    std::chrono::milliseconds timeout;
  };
  using Place = std::pair<std::int64_t, std::int64_t>;  // epoch, step
  // The batch of a lease; nothing where the lease was given back, or is done already.
  using Make = std::function<std::optional<LoadedBatch>(const Lease&)>;

  // `source` must outlive it. Throws Error(kIo) where no more threads can be had.
  PartThreads(PartSource& source, Make make, const Options& options, Place start);
  ~PartThreads();
  PartThreads(const PartThreads&) = delete;
  PartThreads& operator=(const PartThreads&) = delete;

  // A part of the step; nothing when all its parts are computed, by whichever ranks. Throws what a thread met, and
  // Error(kTimeout).
  std::optional<MadePart> next(Place step);
  // Calls that wait, and later ones, throw Error(kAborted); from any thread.
  void interrupt();
  // Joins the threads as well.
  void stop();

 private:
  void work();
  bool is_asked() const;  // with the lock held, here and below
  bool may_lease() const;
  bool is_over(Place step) const;
  std::deque<MadePart>::iterator ready_of(Place step);
  void lease_one(std::unique_lock<std::mutex>& lock, std::multiset<Place>::iterator& mine);

  PartSource& source_;
  const Make make_;
  const Options options_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<MadePart> ready_;
  std::multiset<Place> busy_;   // what threads lease or make just now
  Place leasing_;               // the step whose parts are leased; those before it have none left
  std::optional<Place> asked_;  // the step that next() waits for
  long completed_ = 0;          // counts calls of next(), each of which may have completed a step's last part
  std::exception_ptr failure_;
  bool stopping_ = false;

  std::mutex threads_mutex_;
  std::vector<std::thread> threads_;
};

}  // namespace tandem::elastic
