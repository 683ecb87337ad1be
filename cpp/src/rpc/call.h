// Messages of calls.
#pragma once

#include <torch/csrc/distributed/rpc/message.h>
#include <torch/csrc/distributed/rpc/types.h>

#include <chrono>
#include <memory>
#include <string>

#include "rpc/future.h"
#include "rpc/session.h"

namespace tandem::rpc {

namespace torch_rpc = torch::distributed::rpc;

// Of `options`, or the session's. Errors: kInvalidArgument.
std::chrono::milliseconds timeout_of(const Session& session, const CallOptions& options);
// As LibTorch takes it.
inline float seconds(std::chrono::milliseconds time) {
  return static_cast<float>(time.count()) / 1000;
}
// What the operator of messages takes.
Values operands(const std::string& function, Values arguments);

// One call from its start to its end: room, statistics and trace.
class CallRecord {
 public:
  using Clock = std::chrono::steady_clock;

  // Waits for room. Errors: kTimeout, kAborted.
  CallRecord(std::shared_ptr<Session> session, const Worker& to, std::string function, Clock::time_point deadline);
  ~CallRecord();
  CallRecord(const CallRecord&) = delete;
  CallRecord& operator=(const CallRecord&) = delete;

  Session& session() const { return *session_; }
  const Worker& to() const { return to_; }
  const std::string& function() const { return function_; }
  // A message with its tensors, of this call.
  void add_sent(const torch_rpc::Message& message);
  void add_received(const torch_rpc::Message& message);
  // Once.
  void end(bool succeeded);

 private:
  const std::shared_ptr<Session> session_;
  const Worker to_;
  const std::string function_;
  const Clock::time_point begun_ = Clock::now();
  bool ended_ = false;
};

}  // namespace tandem::rpc
