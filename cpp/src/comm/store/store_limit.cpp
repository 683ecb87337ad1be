#include "comm/store/store_limit.h"

#include <algorithm>
#include <utility>

namespace tandem {
namespace {

thread_local const StoreLimit* innermost_limit = nullptr;

}  // namespace

void StoreInterrupt::interrupt() {
  const std::lock_guard<std::mutex> lock(mutex_);
  interrupted_ = true;
  for (StoreCallUnderWay* call : calls_) call->interrupt();
}

bool StoreInterrupt::is_interrupted() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return interrupted_;
}

void StoreInterrupt::begin(StoreCallUnderWay& call) {
  const std::lock_guard<std::mutex> lock(mutex_);
  calls_.push_back(&call);
  if (interrupted_) call.interrupt();
}

void StoreInterrupt::end(StoreCallUnderWay& call) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase(calls_, &call);
}

StoreLimit::StoreLimit(Clock::time_point deadline, std::shared_ptr<StoreInterrupt> interrupt)
    : deadline_(deadline), interrupt_(std::move(interrupt)), outer_(std::exchange(innermost_limit, this)) {}

StoreLimit::StoreLimit(std::shared_ptr<StoreInterrupt> interrupt)
    : StoreLimit(Clock::time_point::max(), std::move(interrupt)) {}

StoreLimit::~StoreLimit() {
  innermost_limit = outer_;
}

StoreLimit::Clock::time_point StoreLimit::earliest_deadline() {
  auto earliest = Clock::time_point::max();
  for (const StoreLimit* limit = innermost_limit; limit; limit = limit->outer_) {
    earliest = std::min(earliest, limit->deadline_);
  }
  return earliest;
}

std::vector<std::shared_ptr<StoreInterrupt>> StoreLimit::interrupts() {
  std::vector<std::shared_ptr<StoreInterrupt>> found;
  for (const StoreLimit* limit = innermost_limit; limit; limit = limit->outer_) {
    if (limit->interrupt_) found.push_back(limit->interrupt_);
  }
  return found;
}

bool StoreLimit::is_interrupted() {
  for (const StoreLimit* limit = innermost_limit; limit; limit = limit->outer_) {
    if (limit->interrupt_ && limit->interrupt_->is_interrupted()) return true;
  }
  return false;
}

}  // namespace tandem
