// Messages of calls.
#pragma once

#include <torch/csrc/distributed/rpc/message.h>
#include <torch/csrc/distributed/rpc/rpc_command_base.h>
#include <torch/csrc/distributed/rpc/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "metrics/page.h"
#include "rpc/future.h"
#include "rpc/session.h"

namespace tandem::rpc {

namespace torch_rpc = torch::distributed::rpc;

// Of `options`, or the session's. Errors: kInvalidArgument.
std::chrono::milliseconds timeout_of(const Session& session, const CallOptions& options);
// What the operator of messages takes. Errors: kInvalidArgument for what cannot be sent to that worker.
Values operands(const Session& session, const Worker& to, const std::string& function, Values arguments);
// Errors: kNotFound where this thread's context of autograd is over.
void check_context(const std::string& function, const std::string& to);

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
  metrics::CallTotals totals_;
  bool ended_ = false;
};

// What came back.
struct Answer {
  torch_rpc::RpcCommandBase& command;
  torch_rpc::MessageType type;
  c10::intrusive_ptr<torch_rpc::JitFuture> of;  // has its memory
};

// Sends, and calls `decided` once, with an answer or with why there is none: the error of transport, or kTimeout. It does
// not block, and what it throws is an error of transport that it gets then. `over` is called once LibTorch is done with the
// message, before `decided` where that is in time. LibTorch's own timeouts would drop an answer that comes later, and the
// references in it would stay with their owners: so these run here, and a late answer is read and dropped.
void send(const std::shared_ptr<CallRecord>& record, c10::intrusive_ptr<torch_rpc::Message> message,
          std::chrono::milliseconds timeout, std::function<void(const Answer*, const Error*)> decided,
          std::function<void()> over = {});

}  // namespace tandem::rpc
