#include "data/loader/prefetcher.h"

#include <algorithm>

#include "base/own_thread.h"
#include "data/interruption.h"
#include "openmp.h"
#include "tandem/error.h"

namespace tandem::loader {

Prefetcher::Prefetcher(const Limits& limits, std::shared_ptr<DeviceCopies> copies)
    : limits_(limits), copies_(std::move(copies)) {
  try {
    for (int i = 0; i < limits_.threads; ++i) threads_.push_back(start_own_thread("tandem-loader", [this] { work(); }));
  } catch (const std::exception& error) {
    stop();
    throw Error(ErrorCode::kIo, std::string("cannot start a loader's thread: ") + error.what());
  }
}

Prefetcher::~Prefetcher() {
  stop();
}

void Prefetcher::require_running() const {
  if (!stopping_) return;
  throw Error(ErrorCode::kAborted, aborted_ ? "this loader was aborted" : "this loader was stopped by shutdown");
}

void Prefetcher::start(std::int64_t first, std::int64_t end, Make make) {
  std::lock_guard<std::mutex> lock(mutex_);
  require_running();
  ++generation_;
  *interrupt_ = true;
  interrupt_ = std::make_shared<std::atomic<bool>>(false);
  ready_.clear();
  ready_bytes_ = 0;
  make_ = std::make_shared<const Make>(std::move(make));
  next_to_make_ = next_to_deliver_ = first;
  end_ = end;
  work_changed_.notify_all();
  batch_changed_.notify_all();
}

bool Prefetcher::may_begin() const {
  if (next_to_make_ >= end_) return false;
  if (next_to_make_ == next_to_deliver_) return true;  // next() waits for it, or will
  if (next_to_make_ >= next_to_deliver_ + limits_.batches) return false;
  if (largest_bytes_ == 0 && being_made_ > 0) return false;
  const std::int64_t under_way = copies_ ? copies_->bytes_under_way() : 0;
  return ready_bytes_ + under_way + (being_made_ + 1) * largest_bytes_ <= limits_.bytes;
}

Prefetcher::Ready Prefetcher::make_one(const Make& make, std::int64_t number) const {
  Ready made;
  try {
    const StageClock clock(made.times);
    made.batch = make(number);
    made.bytes = made.most = bytes_of(made.batch.tensors);
    if (copies_) {
      const InStage stage(Stage::kCopying);
      made.copied = copies_->send(made.batch);
      made.bytes = bytes_of(made.batch.tensors);
      made.most += made.bytes;
    }
  } catch (...) {
    made.error = std::current_exception();
    made.batch = {};
    made.bytes = 0;
  }
  return made;
}

LoadedBatch Prefetcher::give(Ready& made) const {
  if (made.error) std::rethrow_exception(made.error);
  if (copies_) copies_->receive(made.batch, made.copied);
  return std::move(made.batch);
}

void Prefetcher::count_made(const Ready& made) {
  if (!made.error) counts_.add_batch(made.batch, made.bytes);
  counts_.add_times(made.times);
}

// Until there is something to do, or stop().
void Prefetcher::wait_for_work(std::unique_lock<std::mutex>& lock) {
  while (!stopping_ && !may_begin()) {
    const bool for_room = next_to_make_ < end_;
    const auto since = LoaderCounts::Clock::now();
    if (for_room && copies_ && copies_->bytes_under_way() > 0) {
      work_changed_.wait_for(lock, DeviceCopies::kSoon);
    } else {
      work_changed_.wait(lock);
    }
    if (for_room) counts_.add_wait_for_room(LoaderCounts::Clock::now() - since);
  }
}

void Prefetcher::work() {
  // Threads compute beside one another, not each with all cores.
  set_openmp_threads(1);
  set_mkl_threads(1);
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wait_for_work(lock);
    if (stopping_) return;
    const std::int64_t number = next_to_make_++;
    const std::int64_t generation = generation_;
    const auto make = make_;
    const InterruptFlag interrupt = interrupt_;
    ++being_made_;
    lock.unlock();
    Ready made;
    {
      const InterruptScope interruptible(interrupt);
      made = make_one(*make, number);
    }
    lock.lock();
    --being_made_;
    largest_bytes_ = std::max(largest_bytes_, made.most);
    count_made(made);
    if (generation == generation_) {
      ready_bytes_ += made.bytes;
      counts_.set_ready(ready_bytes_);
      ready_.emplace(number, std::move(made));
      batch_changed_.notify_all();
    } else {
      lock.unlock();
      made = {};
      lock.lock();
    }
    work_changed_.notify_all();  // room may be known now
  }
}

std::optional<LoadedBatch> Prefetcher::next() {
  std::unique_lock<std::mutex> lock(mutex_);
  counts_.ask();
  auto batch = take_next(lock);
  if (batch) counts_.give();
  return batch;
}

std::optional<LoadedBatch> Prefetcher::take_next(std::unique_lock<std::mutex>& lock) {
  require_running();
  if (limits_.threads == 0) {
    if (at_end()) return std::nullopt;
    const auto make = make_;
    const InterruptFlag interrupt = interrupt_;
    lock.unlock();
    Ready made;
    {
      const InterruptScope interruptible(interrupt);
      made = make_one(*make, next_to_deliver_);  // which only this thread changes
    }
    lock.lock();
    if (stopping_) {  // what ends with the batch may be the program's, and call
      lock.unlock();
      made = {};
      lock.lock();
    }
    require_running();
    count_made(made);
    auto batch = give(made);
    next_to_make_ = ++next_to_deliver_;
    return batch;
  }
  const auto is_over = [this] { return stopping_ || at_end() || ready_.contains(next_to_deliver_); };
  if (limits_.timeout.count() == 0) {
    batch_changed_.wait(lock, is_over);
  } else if (!batch_changed_.wait_for(lock, limits_.timeout, is_over)) {
    fail_late();
  }
  require_running();
  if (at_end()) return std::nullopt;
  const auto found = ready_.find(next_to_deliver_);
  auto batch = give(found->second);
  ready_bytes_ -= found->second.bytes;
  ready_.erase(found);
  ++next_to_deliver_;
  work_changed_.notify_all();
  return batch;
}

void Prefetcher::fail_late() const {
  const bool begun = next_to_make_ > next_to_deliver_;
  throw Error(ErrorCode::kTimeout,
              "batch " + std::to_string(next_to_deliver_) + " is not made after " +
                  std::to_string(limits_.timeout.count()) + " ms, the loader's timeout: " +
                  (begun ? "a thread is making it" : "all " + std::to_string(limits_.threads) +
                                                         " threads are busy with batches that nobody wants any more") +
                  (limits_.trouble ? limits_.trouble() : ""));
}

LoaderStatistics Prefetcher::statistics() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return counts_.of(limits_.threads);
}

void Prefetcher::end_soon() {
  stopping_ = true;
  *interrupt_ = true;
  work_changed_.notify_all();
  batch_changed_.notify_all();
}

void Prefetcher::abort() {
  std::lock_guard<std::mutex> lock(mutex_);
  aborted_ = aborted_ || !stopping_;
  end_soon();
}

void Prefetcher::stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    end_soon();
  }
  std::lock_guard<std::mutex> lock(threads_mutex_);
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace tandem::loader
