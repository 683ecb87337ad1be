#include "elastic/part_threads.h"

#include <algorithm>

#include "base/own_thread.h"
#include "data/interruption.h"
#include "openmp.h"
#include "tandem/error.h"

namespace tandem::elastic {
namespace {

using Answer = LeaseQueue::Answer;
using loader::LoaderCounts;

PartThreads::Place place_of(const MadePart& part) {
  return {part.lease.epoch, part.lease.step};
}

}  // namespace

PartThreads::PartThreads(PartSource& source, const Options& options, std::shared_ptr<loader::DeviceCopies> copies,
                         Place first)
    : source_(source), options_(options), copies_(std::move(copies)), leasing_(first) {
  source_.on_change([this] {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++changes_;
    changed_.notify_all();
  });
}

PartThreads::~PartThreads() {
  source_.on_change(nullptr);
  stop();
}

void PartThreads::start(Make make) {
  const std::lock_guard<std::mutex> lock(threads_mutex_);
  make_ = std::move(make);
  try {
    for (int i = 0; i < options_.threads; ++i) {
      threads_.push_back(start_own_thread("tandem-parts", [this] { work(); }));
    }
  } catch (const std::exception& error) {
    interrupt();
    join();
    throw Error(ErrorCode::kIo, "cannot start " + std::to_string(options_.threads) + " threads: " + error.what());
  }
}

void PartThreads::interrupt() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    *interrupt_ = true;
    changed_.notify_all();
  }
  source_.interrupt();
}

void PartThreads::stop() {
  interrupt();
  const std::lock_guard<std::mutex> lock(threads_mutex_);
  join();
}

void PartThreads::join() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void PartThreads::check() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  require_running();
}

void PartThreads::require_running() const {
  if (stopping_) throw Error(ErrorCode::kAborted, "this loader was stopped, by abort() or shutdown");
}

LoaderStatistics PartThreads::statistics() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return counts_.of(options_.threads);
}

// Whether the program waits for a part of the step that is leased now. It may not have noticed yet that the one that it
// waits for is over: what comes then is ahead.
bool PartThreads::is_asked() const {
  return asked_ && leasing_ <= *asked_;
}

// Whether it waits for a part that no thread is about to make.
bool PartThreads::is_wanted() const {
  return is_asked() && !is_ready(*asked_) && busy_.count(leasing_) == 0;
}

// A part is taken to be as large as the largest so far. The one that the program waits for is made in any case.
bool PartThreads::may_lease() const {
  const std::size_t most = static_cast<std::size_t>(options_.prefetch) + (is_asked() ? 1 : 0);
  if (has_failed(leasing_) || ready_.size() + busy_.size() >= most) return false;
  if (is_wanted()) return true;
  const auto being_made = static_cast<std::int64_t>(busy_.size());
  if (largest_bytes_ == 0 && being_made > 0) return false;
  const std::int64_t under_way = copies_ ? copies_->bytes_under_way() : 0;
  return ready_bytes_ + under_way + (being_made + 1) * largest_bytes_ <= options_.bytes;
}

// This step, or one before it.
bool PartThreads::has_failed(Place step) const {
  return failure_ && failed_ <= step;
}

bool PartThreads::is_over(Place step) const {
  return leasing_ > step && busy_.count(step) == 0;
}

std::deque<MadePart>::iterator PartThreads::ready_of(Place step) {
  return std::find_if(ready_.begin(), ready_.end(), [&](const MadePart& part) { return place_of(part) == step; });
}

bool PartThreads::is_ready(Place step) const {
  return std::any_of(ready_.begin(), ready_.end(), [&](const MadePart& part) { return place_of(part) == step; });
}

// Until there is room for another part, or stop().
void PartThreads::wait_for_room(std::unique_lock<std::mutex>& lock) {
  while (!stopping_ && !may_lease()) {
    const auto since = LoaderCounts::Clock::now();
    if (!has_failed(leasing_) && copies_ && copies_->bytes_under_way() > 0) {
      changed_.wait_for(lock, loader::DeviceCopies::kSoon);
    } else {
      changed_.wait(lock);
    }
    if (!has_failed(leasing_)) counts_.add_wait_for_room(LoaderCounts::Clock::now() - since);
  }
}

void PartThreads::work() {
  // Threads compute beside one another, not each with all cores.
  set_openmp_threads(1);
  set_mkl_threads(1);
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wait_for_room(lock);
    if (stopping_) return;
    auto mine = busy_.insert(leasing_);
    try {
      lease_one(lock, mine);
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      if (!failure_ || *mine < failed_) {
        failure_ = std::current_exception();
        failed_ = *mine;
      }
    }
    busy_.erase(mine);
    changed_.notify_all();
  }
}

// With the lock given up.
void PartThreads::make_one(const Lease& lease, std::unique_lock<std::mutex>& lock) {
  loader::StageTimes times{};
  std::optional<MadeBatch> made;
  loader::DeviceCopies::Copied copied;
  std::int64_t bytes = 0, most = 0;
  {
    const InterruptScope interruptible(interrupt_);
    const loader::StageClock clock(times);
    made = make_(lease);
    if (made) bytes = most = loader::bytes_of(made->batch.tensors);
    if (made && copies_) {
      const loader::InStage stage(loader::Stage::kCopying);
      copied = copies_->send(made->batch);
      bytes = loader::bytes_of(made->batch.tensors);
      most += bytes;
    }
  }
  lock.lock();
  counts_.add_times(times);
  if (!made) return;
  counts_.add_batch(made->batch, bytes);
  ready_.push_back({lease, std::move(made->batch), std::move(made->skipped), std::move(copied), bytes});
  ready_bytes_ += bytes;
  largest_bytes_ = std::max(largest_bytes_, most);
  counts_.set_ready(ready_bytes_);
}

// Leases and makes one more part, with the lock given up meanwhile.
void PartThreads::lease_one(std::unique_lock<std::mutex>& lock, std::multiset<Place>::iterator& mine) {
  const Place step = leasing_;
  const bool urgent = is_asked();
  const bool may_be_ahead = !urgent && !has_failed({step.first, step.second + 1});
  const long completed = completed_, changes = changes_;
  lock.unlock();
  Lease lease;
  Answer answer = source_.lease(step.first, step.second, &lease);
  // While the program computes the last parts of a step, there is time for the next one's.
  const bool waits = answer == Answer::kWait;
  if (waits && may_be_ahead) {
    answer = source_.lease(step.first, step.second + 1, &lease);
    if (answer == Answer::kDone) {
      lock.lock();
      busy_.erase(mine);
      mine = busy_.insert({lease.epoch, lease.step});
      changed_.notify_all();
      lock.unlock();
    }
  }
  if (answer == Answer::kDone) {
    make_one(lease, lock);
    return;
  }
  lock.lock();
  if (waits) {
    changed_.wait(lock, [&] {
      const bool may_be_ahead_now = urgent && !is_asked();
      return stopping_ || completed_ != completed || changes_ != changes || leasing_ != step || may_be_ahead_now;
    });
  } else if (leasing_ == step) {
    leasing_ = answer == Answer::kEnd ? Place(step.first + 1, 0) : Place(step.first, step.second + 1);
  }
}

std::optional<MadePart> PartThreads::next(Place step) {
  std::unique_lock<std::mutex> lock(mutex_);
  counts_.ask();
  ++completed_;
  asked_ = step;
  changed_.notify_all();
  changed_.wait_for(lock, options_.timeout,
                    [&] { return stopping_ || has_failed(step) || is_over(step) || is_ready(step); });
  asked_.reset();
  require_running();
  if (const auto found = ready_of(step); found != ready_.end()) {
    if (copies_) copies_->receive(found->batch, found->copied);
    MadePart part = std::move(*found);
    ready_.erase(found);
    ready_bytes_ -= part.bytes;
    counts_.give();
    changed_.notify_all();
    return part;
  }
  // A part of the step may be missing from it.
  if (has_failed(step)) std::rethrow_exception(failure_);
  if (is_over(step)) {
    counts_.compute();  // the step; what it waited for were other ranks
    return std::nullopt;
  }
  lock.unlock();
  throw Error(ErrorCode::kTimeout, "step " + std::to_string(step.second) + " of epoch " + std::to_string(step.first) +
                                       " is not whole after " + std::to_string(options_.timeout.count()) +
                                       " ms: " + source_.missing(step.first, step.second) + options_.trouble());
}

}  // namespace tandem::elastic
