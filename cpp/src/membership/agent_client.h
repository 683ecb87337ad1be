// A worker's side of the conversation with its agent.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/descriptor.h"
#include "membership/message.h"

namespace tandem::membership {

// Its own thread listens, so that an epoch's end reaches a program that computes. Calls are thread-safe. All of them
// throw Error(kPeerLost) once the agent is gone.
class AgentClient {
 public:
  // Throws Error(kIo).
  AgentClient(const std::string& path, std::int64_t member);
  // To the agent it is a loss, unless done() or bye() was called.
  ~AgentClient();
  AgentClient(const AgentClient&) = delete;
  AgentClient& operator=(const AgentClient&) = delete;

  // Nothing where no agent has started this process. Throws Error(kIo) where it cannot be reached.
  static std::unique_ptr<AgentClient> from_environment();

  // Waits for the next epoch, as long as it takes. Nothing: the training has come to its end without this worker, or it
  // was released() after leave().
  std::optional<Form> join(const Join& join);
  void serve(std::int64_t epoch, const std::string& host, int port);

  // Has `act` called once when the epoch of the last join() ends because of a failure, on this object's thread; at once
  // where it has. None: no longer; waits for one that is being called.
  void on_interrupt(std::function<void()> act);
  // Why the epoch has ended; nothing while it has not.
  std::optional<std::string> interrupted() const;
  // The same, after waiting until it has, or for `timeout`.
  std::optional<std::string> wait_for_interrupt(std::chrono::milliseconds timeout) const;

  enum class Next { kGoOn, kStop, kLeave, kInterrupted };
  // This rank has completed `step` steps since the job began. Where all ranks are to stop there, waits until all have
  // said that they can: kStop, and all of them get it at this step; kLeave on those that leave().
  Next completed(std::int64_t step);
  // Where completed() counts on from.
  void begin_at(std::int64_t step);
  // Before this rank changes what outlives the job, as a checkpoint: "" where the agent says that `epoch` is the only one, and
  // not over, else why not. From any thread.
  std::string why_not(std::int64_t epoch);
  // Ends join() and completed(), now and later, with Error(kAborted); also what on_interrupt() waits for. From any thread.
  void abort();
  // Says whether this rank waits for others, for reports: on this object's thread, until the next one is given.
  void tell_waiting(std::function<bool()> waits);
  // What reports say beside the step.
  void describe(std::string text);

  void done();
  // From a signal's handler of a runtime, too, if that calls on a thread of its own. Ranks then stop soon.
  void leave();
  bool leaves() const;
  // Whether it has left, without bye().
  bool released() const;
  void bye();

 private:
  struct Stop {
    std::int64_t number;
    std::int64_t step;
    bool agreed = false;
    bool may_leave = true;
  };

  void listen();
  void handle(const Message& message);
  void report_progress(bool is_due);
  void send(const Message& message);
  // Throws where the agent is gone, or this side was aborted.
  void check_usable() const;
  void act_now(std::unique_lock<std::mutex>& lock);
  [[noreturn]] void throw_gone() const;

  const std::string path_;
  Descriptor socket_;
  Pipe end_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::mutex send_mutex_;
  bool gone_ = false;  // the agent
  bool aborted_ = false;
  bool finished_ = false;
  bool leaves_ = false;
  bool released_ = false;
  bool waits_at_stop_ = false;
  std::optional<Form> form_;  // that join() has not returned yet
  std::int64_t epoch_ = 0;    // of the last join()
  std::optional<std::string> interrupted_;
  std::optional<Stop> stop_;
  std::int64_t requests_ = 0;
  std::optional<Permitted> permitted_;
  std::int64_t step_ = 0;
  std::int64_t reported_ = -1;
  std::chrono::steady_clock::time_point reported_at_;
  std::string text_;
  std::function<bool()> waits_;
  std::function<void()> act_;
  bool acting_ = false;
  std::thread thread_;
};

}  // namespace tandem::membership
