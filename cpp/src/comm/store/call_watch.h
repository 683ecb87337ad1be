// Calls that block without a timeout of their own, made one at a time, each ended at its deadline.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "comm/store/store_limit.h"

namespace tandem {

// Thread-safe. Its own thread sleeps until a deadline comes.
class CallWatch {
 public:
  using Clock = std::chrono::steady_clock;

  // `end` makes the call under way return soon, and must not block. It is called every few milliseconds until the call
  // has returned.
  explicit CallWatch(std::function<void()> end);
  // No call is under way any more. Only in the process that made it, see InItsProcess.
  ~CallWatch();
  CallWatch(const CallWatch&) = delete;
  CallWatch& operator=(const CallWatch&) = delete;

  // A child that was forked has the object, but not its thread, which may hold the lock there for ever: it keeps both.
  struct InItsProcess {
    void operator()(CallWatch* watch) const;
  };

  // A call, from when it is this thread's turn to when it has returned.
  class Turn final : public StoreCallUnderWay {
   public:
    // Waits for the calls of other threads; throws Error (kTimeout, kAborted) naming the one under way at the deadline.
    // The limits of this thread's StoreLimits that interrupt count too, after `grace`.
    Turn(CallWatch& watch, std::string what, Clock::time_point deadline, std::chrono::milliseconds grace);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // Whether the watch ended the call, or is about to.
    bool was_ended() const;
    bool was_interrupted() const;
    std::chrono::milliseconds age() const;

    void interrupt() override;

   private:
    friend class CallWatch;
    void await_turn();
    [[noreturn]] void give_up() const;

    CallWatch& watch_;
    const std::string what_;
    const Clock::time_point begun_ = Clock::now();
    const std::chrono::milliseconds grace_;
    const std::vector<std::shared_ptr<StoreInterrupt>> interrupts_;
    Clock::time_point deadline_;  // this and what follows: under the watch's mutex
    bool interrupted_ = false;
    bool ended_ = false;
  };

 private:
  void run();

  const std::function<void()> end_;
  mutable std::mutex mutex_;
  std::condition_variable turns_;   // a call has returned, or a waiting one was interrupted
  std::condition_variable sooner_;  // for the thread: a deadline before the one that it sleeps for
  Turn* current_ = nullptr;
  Clock::time_point wakes_ = Clock::time_point::max();
  bool stopping_ = false;
  const long process_;
  std::thread thread_;
};

}  // namespace tandem
