#include "data/loader/prefetcher.h"

#include <algorithm>

#include "own_thread.h"
#include "tandem/error.h"

namespace tandem::loader {
namespace {

std::int64_t bytes_of(const LoadedBatch& batch) {
  std::int64_t bytes = 0;
  for (const at::Tensor& tensor : batch.tensors) bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

}  // namespace

Prefetcher::Prefetcher(const Limits& limits) : limits_(limits) {
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
  if (stopping_) throw Error(ErrorCode::kAborted, "this loader was stopped by shutdown");
}

void Prefetcher::start(std::int64_t first, std::int64_t end, Make make) {
  std::lock_guard<std::mutex> lock(mutex_);
  require_running();
  ++generation_;
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
  return ready_bytes_ + (being_made_ + 1) * largest_bytes_ <= limits_.bytes;
}

void Prefetcher::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    work_changed_.wait(lock, [this] { return stopping_ || may_begin(); });
    if (stopping_) return;
    const std::int64_t number = next_to_make_++;
    const std::int64_t generation = generation_;
    const auto make = make_;
    ++being_made_;
    lock.unlock();
    Ready made;
    try {
      made.batch = (*make)(number);
      made.bytes = bytes_of(made.batch);
    } catch (...) {
      made.error = std::current_exception();
    }
    lock.lock();
    --being_made_;
    largest_bytes_ = std::max(largest_bytes_, made.bytes);
    if (generation == generation_) {
      ready_bytes_ += made.bytes;
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
  require_running();
  if (limits_.threads == 0) {
    if (at_end()) return std::nullopt;
    auto batch = (*make_)(next_to_deliver_);
    next_to_make_ = ++next_to_deliver_;
    return batch;
  }
  batch_changed_.wait(lock, [this] { return stopping_ || at_end() || ready_.contains(next_to_deliver_); });
  require_running();
  if (at_end()) return std::nullopt;
  const auto found = ready_.find(next_to_deliver_);
  if (found->second.error) std::rethrow_exception(found->second.error);
  auto batch = std::move(found->second.batch);
  ready_bytes_ -= found->second.bytes;
  ready_.erase(found);
  ++next_to_deliver_;
  work_changed_.notify_all();
  return batch;
}

void Prefetcher::stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    work_changed_.notify_all();
    batch_changed_.notify_all();
  }
  std::lock_guard<std::mutex> lock(threads_mutex_);
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace tandem::loader
