// Threads that lease this rank's parts and make batches of them, ahead of their use.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "data/loader/device_copies.h"
#include "data/loader/loader_counts.h"
#include "elastic/part_source.h"

namespace tandem::elastic {

// A part's batch, and what of the part could not be read and is not in it.
struct MadeBatch {
  LoadedBatch batch;
  std::vector<CommittedStep::Skipped> skipped;
};

struct MadePart {
  Lease lease;
  LoadedBatch batch;
  std::vector<CommittedStep::Skipped> skipped;
  loader::DeviceCopies::Copied copied;
  std::int64_t bytes = 0;
};

class PartThreads {
 public:
  struct Options {
    int threads;
    int prefetch;        // parts that are ready or being made while nobody waits
    std::int64_t bytes;  // in them
    std::chrono::milliseconds timeout;
    std::function<std::string()> trouble;  // what threads wait for, for messages
  };
  using Place = std::pair<std::int64_t, std::int64_t>;  // epoch, step
  // The batch of a lease; nothing where the lease was given back, or is done already.
  using Make = std::function<std::optional<MadeBatch>(const Lease&)>;

  // `source` must outlive it. `copies` take parts to a device as soon as they are made; null: they stay.
  PartThreads(PartSource& source, const Options& options, std::shared_ptr<loader::DeviceCopies> copies, Place first);
  ~PartThreads();
  PartThreads(const PartThreads&) = delete;
  PartThreads& operator=(const PartThreads&) = delete;

  // Once, before next(). Throws Error(kIo) where no more threads can be had.
  void start(Make make);
  // Throws Error(kAborted) once it was interrupted, as next() does.
  void check() const;
  // A part of the step; nothing when all its parts are computed, by whichever ranks. Throws what a thread met, and
  // Error(kTimeout).
  std::optional<MadePart> next(Place step);
  // From any thread.
  LoaderStatistics statistics() const;
  // Calls that wait, and later ones, throw Error(kAborted); from any thread.
  void interrupt();
  // Joins the threads as well.
  void stop();

 private:
  void work();
  void join();
  void wait_for_room(std::unique_lock<std::mutex>& lock);
  void require_running() const;  // with the lock held, here and below
  bool is_asked() const;
  bool is_wanted() const;
  bool may_lease() const;
  bool has_failed(Place step) const;
  bool is_over(Place step) const;
  bool is_ready(Place step) const;
  std::deque<MadePart>::iterator ready_of(Place step);
  void make_one(const Lease& lease, std::unique_lock<std::mutex>& lock);
  void lease_one(std::unique_lock<std::mutex>& lock, std::multiset<Place>::iterator& mine);

  PartSource& source_;
  const Options options_;
  const std::shared_ptr<loader::DeviceCopies> copies_;
  Make make_;  // as the threads find it

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<MadePart> ready_;
  std::int64_t ready_bytes_ = 0;
  std::int64_t largest_bytes_ = 0;  // of a part while it is made; 0: none was yet
  std::multiset<Place> busy_;       // what threads lease or make just now
  Place leasing_;                   // the step whose parts are leased; those before it have none left
  std::optional<Place> asked_;      // the step that next() waits for
  long completed_ = 0;              // counts calls of next(), each of which may have completed a step's last part
  long changes_ = 0;                // counts those of the source
  std::exception_ptr failure_;
  Place failed_;  // where that is; steps before it are made as ever
  loader::LoaderCounts counts_;
  bool stopping_ = false;
  const std::shared_ptr<std::atomic<bool>> interrupt_ = std::make_shared<std::atomic<bool>>(false);

  std::mutex threads_mutex_;
  std::vector<std::thread> threads_;
};

}  // namespace tandem::elastic
