// How long calls on stores may take, and how another thread ends them.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "tandem/export.h"

namespace tandem {

// A call on a store that is under way.
class StoreCallUnderWay {
 public:
  // From any thread; may come more than once.
  virtual void interrupt() = 0;

 protected:
  ~StoreCallUnderWay() = default;
};

// Ends the calls that were made under it, and keeps later ones short: for abort, close and shutdown. Thread-safe.
class TANDEM_API StoreInterrupt {
 public:
  StoreInterrupt() = default;
  StoreInterrupt(const StoreInterrupt&) = delete;
  StoreInterrupt& operator=(const StoreInterrupt&) = delete;

  void interrupt();
  bool is_interrupted() const;

  // Calls between begin and end are told. Neither waits for more than a moment.
  void begin(StoreCallUnderWay& call);
  void end(StoreCallUnderWay& call);

 private:
  mutable std::mutex mutex_;
  bool interrupted_ = false;
  std::vector<StoreCallUnderWay*> calls_;
};

// While it lives, what this thread calls on a TCP store ends by `deadline`, or a few seconds after it where the server
// does not answer, and soon after `interrupt`. Limits nest, and all of them count.
class TANDEM_API StoreLimit {
 public:
  using Clock = std::chrono::steady_clock;

  explicit StoreLimit(Clock::time_point deadline, std::shared_ptr<StoreInterrupt> interrupt = nullptr);
  explicit StoreLimit(std::shared_ptr<StoreInterrupt> interrupt);
  ~StoreLimit();
  StoreLimit(const StoreLimit&) = delete;
  StoreLimit& operator=(const StoreLimit&) = delete;

  // Of all limits of this thread.
  static Clock::time_point earliest_deadline();
  static std::vector<std::shared_ptr<StoreInterrupt>> interrupts();
  static bool is_interrupted();

 private:
  const Clock::time_point deadline_;
  const std::shared_ptr<StoreInterrupt> interrupt_;
  const StoreLimit* const outer_;
};

}  // namespace tandem
