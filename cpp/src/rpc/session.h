// This process as a worker: from init() to shutdown().
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "rpc/agent.h"
#include "rpc/call_timer.h"
#include "rpc/meeting.h"
#include "tandem/rpc.h"
#include "tandem/runtime.h"

namespace tandem::rpc {

// What is counted of the calls to one worker.
struct CallCounter {
  std::atomic<std::int64_t> calls{0}, failed{0}, outstanding{0}, latency_ns{0}, bytes_sent{0}, bytes_received{0};
};

class Session {
 public:
  using Clock = std::chrono::steady_clock;
  using WorkerInfo = torch::distributed::rpc::WorkerInfo;

  Session(const std::string& name, const Options& options, const Rendezvous& rendezvous);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Of the process's session, once: to all others. Errors: those of calls, on all workers.
  void connect();

  // That of the process. Errors: kClosed where there is none.
  static std::shared_ptr<Session> current();

  const Options& options() const { return options_; }
  Agent& agent() { return *agent_; }
  CallTimer& timer() { return timer_; }
  const std::vector<Worker>& workers() const { return meeting_.workers(); }
  const DeviceMaps& devices() const { return meeting_.devices(); }
  const Worker& self() const { return workers()[meeting_.rank()]; }
  // Errors: kNotFound.
  const Worker& find(const std::string& name) const;
  CallCounter& counter(int worker) { return counters_[worker]; }

  // Room for one more call; waits for it. Errors: kTimeout, kAborted.
  bool has_room();
  void take_room(Clock::time_point deadline);
  void give_room();
  // Of a call whose time is over and which LibTorch still has: it ends with its answer, in which references may come.
  void add_late(int change) { late_ += change; }

  // Runs it on a thread of the process's session; false where there is no session, or no thread.
  static bool post(const std::function<void()>& task);

  // leave() or end() has begun to end what is under way.
  bool has_left() const { return has_left_; }

  // With all others. Errors: those of Meeting; the session goes on then.
  void part(Clock::time_point deadline);
  // Fails what is under way. False: functions still run at the deadline; it may be called again.
  bool end(Clock::time_point deadline);

 private:
  // Calls of this worker's that are under way, and functions that run here.
  std::int64_t busy();
  void drain(Clock::time_point deadline, const std::function<void()>& check);
  std::function<void()> watch_next_worker();
  std::string why_others_stay();

  const Options options_;
  Meeting meeting_;
  CallTimer timer_;
  std::unique_ptr<Agent> agent_;
  std::vector<CallCounter> counters_;
  std::atomic<std::int64_t> late_{0};
  std::atomic<bool> has_left_{false};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t outstanding_ = 0;
  bool is_ending_ = false, has_ended_ = false;
  std::thread ending_;
  std::unique_ptr<ShutdownHook> hook_;
};

}  // namespace tandem::rpc
