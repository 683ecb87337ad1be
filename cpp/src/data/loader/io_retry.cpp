#include "data/loader/io_retry.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <new>
#include <string_view>

#include "data/interruption.h"
#include "tandem/error.h"

namespace tandem::loader {
namespace {

constexpr std::chrono::milliseconds kLongestIoPause{10000};

}  // namespace

LoadFailure failure_of(const std::exception& error) {
  if (is_out_of_memory(error)) return LoadFailure::kOther;
  const auto* own = dynamic_cast<const Error*>(&error);
  if (!own) return LoadFailure::kData;
  switch (own->code()) {
    case ErrorCode::kIo:
    case ErrorCode::kTimeout:
      return LoadFailure::kIo;
    case ErrorCode::kAborted:
    case ErrorCode::kClosed:
    case ErrorCode::kInternal:
    case ErrorCode::kLibrary:
    case ErrorCode::kOutOfMemory:
    case ErrorCode::kPeerLost:
      return LoadFailure::kOther;
    default:
      return LoadFailure::kData;
  }
}

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) || dynamic_cast<const c10::OutOfMemoryError*>(&error)) return true;
  // LibTorch's own allocator of the CPU throws no type of its own.
  const auto* of_libtorch = dynamic_cast<const c10::Error*>(&error);
  return of_libtorch && std::string_view(of_libtorch->what_without_backtrace()).find("DefaultCPUAllocator: ") !=
                            std::string_view::npos;
}

void check_io_policy(const IoPolicy& policy) {
  constexpr std::chrono::milliseconds kLongest{std::int64_t{1} << 40};  // 35 years
  if (policy.on_error < OnIoError::kRetry || policy.on_error > OnIoError::kFail) {
    throw Error(ErrorCode::kInvalidArgument,
                "on_io_error is " + std::to_string(static_cast<int>(policy.on_error)) + ", none of retry, skip, fail");
  }
  if (policy.retry.count() < 0 || policy.retry > kLongest) {
    throw Error(ErrorCode::kInvalidArgument,
                "io_retry, in milliseconds, is " + std::to_string(policy.retry.count()) + ", but must be from 0 to " +
                    std::to_string(kLongest.count()));
  }
}

void IoTrouble::set(const void* attempts, const std::string& message) {
  const std::lock_guard lock(mutex_);
  std::erase_if(all_, [attempts](const auto& one) { return one.first == attempts; });
  all_.emplace_back(attempts, message);
}

void IoTrouble::clear(const void* attempts) {
  const std::lock_guard lock(mutex_);
  std::erase_if(all_, [attempts](const auto& one) { return one.first == attempts; });
}

std::string IoTrouble::last() const {
  const std::lock_guard lock(mutex_);
  return all_.empty() ? "" : all_.back().second;
}

IoRetry::~IoRetry() {
  if (failed_) trouble_.clear(this);
}

void IoRetry::wait_or_rethrow(const std::exception& error) {
  if (failure_of(error) != LoadFailure::kIo || policy_.on_error == OnIoError::kFail) throw;
  const Clock::time_point now = Clock::now();
  if (!failed_) since_ = now;
  failed_ = true;
  if (now + pause_ > since_ + policy_.retry) {
    const auto tried = std::chrono::duration_cast<std::chrono::milliseconds>(now - since_);
    std::throw_with_nested(Error(dynamic_cast<const Error&>(error).code(),
                                 std::string(error.what()) + " (tried again for " + std::to_string(tried.count()) +
                                     " ms; io_retry is " + std::to_string(policy_.retry.count()) + ")"));
  }
  trouble_.set(this, error.what());
  if (!sleep_unless_interrupted(pause_)) {
    throw Error(ErrorCode::kAborted, std::string(error.what()) + "; nobody waits for it any more");
  }
  pause_ = std::min(2 * pause_, kLongestIoPause);
}

}  // namespace tandem::loader
