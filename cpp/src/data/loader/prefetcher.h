// Batches made ahead by threads and delivered in order.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "data/loader/device_copies.h"
#include "data/loader/loader_counts.h"
#include "data/loader/stage_clock.h"
#include "tandem/loader.h"

namespace tandem::loader {

class Prefetcher {
 public:
  struct Limits {
    int threads;           // 0: next() makes batches itself
    std::int64_t batches;  // that are ready or being made
    std::int64_t bytes;    // in them
    std::chrono::milliseconds timeout{0};           // of next(); 0: none
    std::function<std::string()> trouble = nullptr;  // what threads wait for, for messages
  };
  using Make = std::function<LoadedBatch(std::int64_t number)>;

  // `copies` take batches to a device as soon as they are made; null: they stay. Throws Error(kIo) where no more
  // threads can be had.
  Prefetcher(const Limits& limits, std::shared_ptr<DeviceCopies> copies);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // Has batches first … end - 1 made by `make`, which any thread may call, several at once. What is left of an earlier
  // start is dropped. Throws Error(kAborted) after abort() or stop(), here and below.
  void start(std::int64_t first, std::int64_t end, Make make);
  // Throws what `make` threw for that batch, and again when called again; Error(kTimeout) where it is not made in time.
  std::optional<LoadedBatch> next();
  // From any thread.
  LoaderStatistics statistics() const;
  // Has threads, and next() that waits, end soon; from any thread.
  void abort();
  // The same, and joins the threads; from any thread.
  void stop();

 private:
  // A batch, or why there is none.
  struct Ready {
    LoadedBatch batch;
    DeviceCopies::Copied copied;
    std::int64_t bytes = 0;  // that it keeps
    std::int64_t most = 0;   // … while it was made
    std::exception_ptr error;
    StageTimes times{};
  };

  Ready make_one(const Make& make, std::int64_t number) const;
  // What next() gives, on its thread.
  LoadedBatch give(Ready& made) const;
  void work();
  void wait_for_work(std::unique_lock<std::mutex>& lock);
  // With the lock held, here and below.
  bool may_begin() const;
  void count_made(const Ready& made);
  std::optional<LoadedBatch> take_next(std::unique_lock<std::mutex>& lock);
  bool at_end() const { return next_to_deliver_ >= end_; }
  void require_running() const;
  void end_soon();
  [[noreturn]] void fail_late() const;

  const Limits limits_;
  const std::shared_ptr<DeviceCopies> copies_;

  mutable std::mutex mutex_;
  std::condition_variable work_changed_;   // for threads: there may be a batch to make
  std::condition_variable batch_changed_;  // for next()
  std::shared_ptr<const Make> make_;
  std::int64_t generation_ = 0;  // counts start(): what was made for an older one is dropped
  std::shared_ptr<std::atomic<bool>> interrupt_ = std::make_shared<std::atomic<bool>>(false);  // for this generation
  std::int64_t next_to_make_ = 0;
  std::int64_t next_to_deliver_ = 0;
  std::int64_t end_ = 0;
  std::map<std::int64_t, Ready> ready_;
  std::int64_t ready_bytes_ = 0;
  std::int64_t being_made_ = 0;     // of this generation or an older one: their memory counts as well
  std::int64_t largest_bytes_ = 0;  // of a batch while it is made; 0: none was yet
  LoaderCounts counts_;
  bool stopping_ = false;
  bool aborted_ = false;  // before anything else stopped it

  std::mutex threads_mutex_;
  std::vector<std::thread> threads_;
};

}  // namespace tandem::loader
