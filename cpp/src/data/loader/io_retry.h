// Tells what cannot be read now from what is wrong with it, and tries the former again.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tandem/io_errors.h"

namespace tandem::loader {

enum class LoadFailure {
  kData,   // something is wrong with a sample
  kIo,     // it cannot be read now
  kOther,  // the loader ends, there is no memory, a library is missing: no sample can help it
};
LoadFailure failure_of(const std::exception& error);

// Whether it is one of C++ or of LibTorch that says that memory ran out.
bool is_out_of_memory(const std::exception& error);

struct IoPolicy {
  OnIoError on_error = OnIoError::kRetry;
  std::chrono::milliseconds retry{180000};
};

// Throws Error(kInvalidArgument) naming what cannot be.
void check_io_policy(const IoPolicy& policy);

// What was not read yet, for whoever waits for it. Thread-safe.
class IoTrouble {
 public:
  // Instead of what `attempts` had before.
  void set(const void* attempts, const std::string& message);
  void clear(const void* attempts);
  std::string last() const;  // that was set and not cleared; "" where all is well

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<const void*, std::string>> all_;  // what failed last stands last
};

// The attempts at one piece of work.
class IoRetry {
 public:
  IoRetry(const IoPolicy& policy, IoTrouble& trouble) : policy_(policy), trouble_(trouble) {}
  ~IoRetry();
  IoRetry(const IoRetry&) = delete;
  IoRetry& operator=(const IoRetry&) = delete;

  // To be called where `error` is handled, which it throws again unless there is to be another attempt, for which it
  // waits; where the policy's time is over it says so. Throws Error(kAborted) where this thread is interrupted.
  void wait_or_rethrow(const std::exception& error);

 private:
  using Clock = std::chrono::steady_clock;

  const IoPolicy policy_;
  IoTrouble& trouble_;
  bool failed_ = false;
  Clock::time_point since_{};
  std::chrono::milliseconds pause_{100};
};

template <typename Work>
auto with_io_retries(const IoPolicy& policy, IoTrouble& trouble, Work&& work) {
  IoRetry retry(policy, trouble);
  for (;;) {
    try {
      return work();
    } catch (const std::exception& error) {
      retry.wait_or_rethrow(error);
    }
  }
}

}  // namespace tandem::loader
