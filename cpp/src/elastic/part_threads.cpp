#include "elastic/part_threads.h"

#include <algorithm>

#include "own_thread.h"
#include "tandem/error.h"

namespace tandem::elastic {
namespace {

using Answer = LeaseQueue::Answer;
using std::chrono::milliseconds;

// Between looks at what others do, with the program waiting and without.
constexpr milliseconds kSoon{2}, kLater{20};

}  // namespace

PartThreads::PartThreads(PartSource& source, Make make, const Options& options, Place start)
    : source_(source), make_(std::move(make)), options_(options), leasing_(start) {
  try {
    for (int i = 0; i < options.threads; ++i) {
      threads_.push_back(start_own_thread("tandem-parts", [this] { work(); }));
    }
  } catch (const std::exception& error) {
    stop();
    throw Error(ErrorCode::kIo, "cannot start " + std::to_string(options.threads) + " threads: " + error.what());
  }
}

PartThreads::~PartThreads() {
  stop();
}

void PartThreads::interrupt() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

void PartThreads::stop() {
  interrupt();
  const std::lock_guard<std::mutex> lock(threads_mutex_);
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

// Whether the program waits for a part of the step that is leased now. It may not have noticed yet that the one that it
// waits for is over: what comes then is ahead.
bool PartThreads::is_asked() const {
  return asked_ && leasing_ <= *asked_;
}

bool PartThreads::may_lease() const {
  const std::size_t most = static_cast<std::size_t>(options_.prefetch) + (is_asked() ? 1 : 0);
  return !failure_ && ready_.size() + busy_.size() < most;
}

bool PartThreads::is_over(Place step) const {
  return leasing_ > step && busy_.count(step) == 0;
}

std::deque<MadePart>::iterator PartThreads::ready_of(Place step) {
  return std::find_if(ready_.begin(), ready_.end(),
                      [&](const MadePart& part) { return Place(part.lease.epoch, part.lease.step) == step; });
}

void PartThreads::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || may_lease(); });
    if (stopping_) return;
    auto mine = busy_.insert(leasing_);
    try {
      lease_one(lock, mine);
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      failure_ = std::current_exception();
    }
    busy_.erase(mine);
    changed_.notify_all();
  }
}

// Leases and makes one more part, with the lock given up meanwhile.
void PartThreads::lease_one(std::unique_lock<std::mutex>& lock, std::multiset<Place>::iterator& mine) {
  const Place step = leasing_;
  const bool urgent = is_asked();
  const long completed = completed_;
  lock.unlock();
  Lease lease;
  Answer answer = source_.lease(step.first, step.second, &lease);
  // While the program computes the last parts of a step, there is time for the next one's.
  const bool waits = answer == Answer::kWait;
  if (waits && !urgent) {
    answer = source_.lease(step.first, step.second + 1, &lease);
    if (answer == Answer::kDone) {
      lock.lock();
      busy_.erase(mine);
      mine = busy_.insert({lease.epoch, lease.step});
      changed_.notify_all();
      lock.unlock();
    }
  }
  std::optional<LoadedBatch> batch;
  if (answer == Answer::kDone) batch = make_(lease);
  lock.lock();
  if (answer == Answer::kDone) {
    if (batch) ready_.push_back({lease, std::move(*batch)});
  } else if (waits) {
    changed_.wait_for(lock, urgent ? kSoon : kLater,
                      [&] { return stopping_ || completed_ != completed || leasing_ != step; });
  } else if (leasing_ == step) {
    leasing_ = answer == Answer::kEnd ? Place(step.first + 1, 0) : Place(step.first, step.second + 1);
  }
}

std::optional<MadePart> PartThreads::next(Place step) {
  std::unique_lock<std::mutex> lock(mutex_);
  ++completed_;
  asked_ = step;
  changed_.notify_all();
  changed_.wait_for(lock, options_.timeout,
                    [&] { return stopping_ || failure_ || is_over(step) || ready_of(step) != ready_.end(); });
  asked_.reset();
  if (stopping_) throw Error(ErrorCode::kAborted, "this loader was stopped, by abort() or shutdown");
  if (const auto found = ready_of(step); found != ready_.end()) {
    MadePart part = std::move(*found);
    ready_.erase(found);
    changed_.notify_all();
    return part;
  }
  if (is_over(step)) return std::nullopt;
  if (failure_) std::rethrow_exception(failure_);
  lock.unlock();
  throw Error(ErrorCode::kTimeout, "step " + std::to_string(step.second) + " of epoch " + std::to_string(step.first) +
                                       " is not whole after " + std::to_string(options_.timeout.count()) +
                                       " ms: " + source_.missing(step.first, step.second));
}

}  // namespace tandem::elastic
