// Why a group can no longer be used: the one place where that is kept.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tandem/error.h"

namespace tandem {

//              close()               abort()
//    open ───────────────▶ closing ───────────────▶ aborted
//     │ │                                            ▲  ▲
//     │ └──── fail() ─────▶ failed ───── abort() ────┘  │
//     └──────────────────── abort() ────────────────────┘
//
// open      collectives and messages begin and run.
// closing   the program is done with the group: nothing begins, and messages under way come to their end.
// failed    something failed, here or on another rank: nothing begins, and what waits ends with that.
// aborted   the program gave the group up: the same, with kAborted.
//
// Whoever finds a failure reports it here, and whoever has something to end, the backend above all, listens. All of a
// group's backends have one latch. Thread-safe.
class FailureLatch {
 public:
  enum class State : int { kOpen, kClosing, kFailed, kAborted };
  // Is called once failed, and once aborted, on the thread that reports it; at once where that is already so. It must
  // keep nothing alive that holds the latch.
  using Listener = std::function<void(const Error& reason)>;

  State state() const { return state_.load(std::memory_order_acquire); }
  // Whether collectives may begin.
  bool is_open() const { return state() == State::kOpen; }
  // Whether what waits is to end.
  bool has_ended() const { return state() >= State::kFailed; }
  // Why it is not open; kAborted when it is closing.
  std::optional<Error> reason() const;
  // The same. Throws Error (kInternal) when it is open.
  Error reason_to_end() const;

  // The first failure of an open group. False: it was no longer open.
  bool fail(const Error& failure);
  // Says more of the failure for which it is failed. False: it is another one.
  bool explain(const Error& failure, const Error& explained);
  // False: it was aborted before.
  bool abort(const std::string& reason);
  // False: it was not open.
  bool close(const std::string& reason);

  // In the order in which they are told.
  void listen(Listener listener);
  // Whether it has ended by then.
  bool wait_until_ended(std::chrono::milliseconds timeout) const;

 private:
  void end(State state, const Error& reason, std::unique_lock<std::mutex>& lock);

  std::atomic<State> state_{State::kOpen};
  mutable std::mutex mutex_;
  mutable std::condition_variable ended_;
  std::optional<Error> reason_;
  std::vector<Listener> listeners_;
};

}  // namespace tandem
