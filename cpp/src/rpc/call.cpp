#include "rpc/call.h"

#include <c10/core/StreamGuard.h>
#include <torch/csrc/distributed/autograd/context/container.h>
#include <torch/csrc/distributed/autograd/utils.h>
#include <torch/csrc/distributed/rpc/script_call.h>
#include <torch/csrc/distributed/rpc/script_resp.h>
#include <torch/csrc/distributed/rpc/utils.h>

#include <atomic>
#include <optional>
#include <utility>

#include "base/invalid.h"
#include "base/longest_wait.h"
#include "metrics/reporter.h"
#include "rpc/call_operator.h"
#include "rpc/failure_value.h"
#include "rpc/sendable.h"
#include "rpc/streams.h"
#include "rpc/used_graph.h"
#include "tandem/dist_autograd.h"
#include "trace/json.h"
#include "trace/recorder.h"

namespace tandem::rpc {
namespace {

namespace torch_autograd = torch::distributed::autograd;
using std::chrono::milliseconds;

// A call that is made again where it has no answer in time.
struct Attempts {
  std::shared_ptr<CallRecord> record;
  std::shared_ptr<FutureState> state;
  Values arguments;  // for the next one
  std::vector<c10::Stream> streams;  // in which arguments were computed: a second try is made on another thread
  milliseconds timeout;
  int left = 0;  // after the one under way
};

std::int64_t bytes_of(const torch_rpc::Message& message) {
  auto bytes = static_cast<std::int64_t>(message.payload().size());
  for (const at::Tensor& tensor : message.tensors()) {
    if (tensor.defined() && tensor.layout() == at::kStrided) bytes += static_cast<std::int64_t>(tensor.nbytes());
  }
  return bytes;
}

void fail(const Attempts& call, const Error& error) {
  call.record->end(false);
  call.state->fail(on_worker(error, call.record->function(), call.record->to().name));
}

// Where LibTorch reads an answer it makes it a part of its context, also of one that is over: nobody would release that.
std::unique_ptr<torch_rpc::RpcCommandBase> read_answer(const torch_rpc::Message& message, torch_rpc::MessageType& type,
                                                       bool is_late) {
  type = message.type();
  if (type != torch_rpc::MessageType::FORWARD_AUTOGRAD_RESP) return torch_rpc::deserializeResponse(message, type);
  auto wrapped = torch_autograd::RpcWithAutograd::fromMessage(message);
  const auto& metadata = wrapped->autogradMetadata();
  if (!is_late && has_context(metadata.autogradContextId)) {
    torch_rpc::DeviceMap back;
    for (const auto& [from, to] : wrapped->deviceMap()) back.emplace(to, from);
    torch_autograd::addRecvRpcBackward(metadata, wrapped->tensors(), wrapped->fromWorkerId(), back);
  }
  type = wrapped->wrappedMessageType();
  return std::move(*wrapped).moveWrappedRpc();
}

// A message that is to be answered.
struct Sent {
  std::shared_ptr<CallRecord> record;
  std::function<void(const Answer*, const Error*)> decided;
  std::function<void()> over;
  std::atomic<bool> is_decided{false};
  CallTimer::Entry deadline;

  void decide(const Error& error) { std::exchange(decided, nullptr)(nullptr, &error); }
};

void time_out(Sent& sent) {
  if (sent.is_decided.exchange(true)) return;
  sent.record->session().add_late(1);
  sent.decide(no_answer());
}

void take_answer(Sent& sent, torch_rpc::JitFuture& done) {
  Session& session = sent.record->session();
  session.timer().remove(sent.deadline);
  const bool is_late = sent.is_decided.exchange(true);
  try {
    std::unique_ptr<torch_rpc::RpcCommandBase> command;
    std::optional<Error> error;
    torch_rpc::MessageType type{};
    if (done.hasError()) {
      error = transport_failure(done, session.has_left());
    } else {
      const auto message = done.constValue().toCustomClass<torch_rpc::Message>();
      if (!is_late) sent.record->add_received(*message);
      command = read_answer(*message, type, is_late);
    }
    if (sent.over) std::exchange(sent.over, nullptr)();
    if (is_late) {
      command.reset();
      session.add_late(-1);
    } else if (error) {
      sent.decide(*error);
    } else {
      const Answer answer{*command, type, c10::intrusive_ptr<torch_rpc::JitFuture>::reclaim_copy(&done)};
      const auto decided = std::exchange(sent.decided, nullptr);
      try {
        decided(&answer, nullptr);
      } catch (const std::exception& other) {
        const Error failure = transport_failure(other, false);
        decided(nullptr, &failure);
      }
    }
  } catch (const std::exception& other) {
    if (sent.over) std::exchange(sent.over, nullptr)();
    if (is_late) {
      session.add_late(-1);
    } else if (sent.decided) {
      sent.decide(transport_failure(other, false));
    }
  }
}

void try_once(const std::shared_ptr<Attempts>& call);

void take_value(const std::shared_ptr<Attempts>& call, const Answer* answer, const Error* error) {
  if (error) {
    if (error->code() == ErrorCode::kTimeout && call->left > 0) {
      --call->left;
      return try_once(call);
    }
    return fail(*call, *error);
  }
  TORCH_CHECK(answer->type == torch_rpc::MessageType::SCRIPT_RET, "the answer to a call is none");
  at::IValue value = static_cast<torch_rpc::ScriptResp&>(answer->command).value();
  if (const auto failure = failure_in(value)) return fail(*call, *failure);
  call->record->end(true);
  call->state->succeed(std::move(value), answer->of);
}

void try_once(const std::shared_ptr<Attempts>& call) {
  Session& session = call->record->session();
  Values arguments = call->left > 0 ? call->arguments : std::move(call->arguments);
  try {
    const c10::MultiStreamGuard streams(call->streams);
    auto message = torch_rpc::ScriptCall(call_operator_of_messages(), operands(session, call->record->to(),
                                                                               call->record->function(), std::move(arguments)))
                       .toMessage();
    send(call->record, std::move(message), call->timeout,
         [call](const Answer* answer, const Error* error) { take_value(call, answer, error); });
  } catch (const Error& error) {
    fail(*call, error);
  } catch (const std::exception& other) {
    fail(*call, transport_failure(other, session.has_left()));
  }
}

}  // namespace

void send(const std::shared_ptr<CallRecord>& record, c10::intrusive_ptr<torch_rpc::Message> message, milliseconds timeout,
          std::function<void(const Answer*, const Error*)> decided, std::function<void()> over) {
  Session& session = record->session();
  record->add_sent(*message);
  const auto sent = std::make_shared<Sent>();
  sent->record = record;
  sent->decided = std::move(decided);
  sent->over = std::move(over);
  sent->deadline = session.timer().add(CallTimer::Clock::now() + timeout, [sent] { time_out(*sent); });
  c10::intrusive_ptr<torch_rpc::JitFuture> answer;
  try {
    auto& agent = session.agent().native();
    before_default_streams(current_streams(session.devices().own));  // functions that are called meanwhile come after
    constexpr float kNoTimeout = 0;
    answer = torch_autograd::sendMessageWithAutograd(
        agent, agent.getWorkerInfo(static_cast<torch_rpc::worker_id_t>(record->to().id)), std::move(message),
        /*forceGradRecording=*/true, kNoTimeout, /*forceDisableProfiling=*/true);
  } catch (const std::exception& other) {
    session.timer().remove(sent->deadline);
    if (sent->over) std::exchange(sent->over, nullptr)();
    if (!sent->is_decided.exchange(true)) {
      sent->decide(transport_failure(other, session.has_left()));
    } else {
      session.add_late(-1);
    }
    return;
  }
  answer->addCallback([sent](torch_rpc::JitFuture& done) { take_answer(*sent, done); });
}

milliseconds timeout_of(const Session& session, const CallOptions& options) {
  if (options.timeout.count() < 0 || options.timeout > kLongestWait) {
    invalid("a call's timeout is " + std::to_string(options.timeout.count()) + " ms; it must be at most 24 days, or 0");
  }
  return options.timeout.count() == 0 ? session.options().rpc_timeout : options.timeout;
}

Values operands(const Session& session, const Worker& to, const std::string& function, Values arguments) {
  const auto& maps = session.devices().there;
  const auto map = maps.find(to.name);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    check_sendable(arguments[i], "argument " + std::to_string(i),
                   [&](at::Device device) { return map != maps.end() && map->second.contains(device); });
  }
  c10::impl::GenericList list(c10::AnyType::get());
  list.reserve(arguments.size());
  for (at::IValue& argument : arguments) list.push_back(std::move(argument));
  return {at::IValue(function), at::IValue(std::move(list))};
}

CallRecord::CallRecord(std::shared_ptr<Session> session, const Worker& to, std::string function,
                       Clock::time_point deadline)
    : session_(std::move(session)), to_(to), function_(std::move(function)) {
  session_->take_room(deadline);
  CallCounter& counter = session_->counter(to_.id);
  ++counter.calls;
  ++counter.outstanding;
}

CallRecord::~CallRecord() {
  end(false);
}

void CallRecord::add_sent(const torch_rpc::Message& message) {
  const std::int64_t bytes = bytes_of(message);
  totals_.bytes_sent += bytes;
  session_->counter(to_.id).bytes_sent += bytes;
}

void CallRecord::add_received(const torch_rpc::Message& message) {
  const std::int64_t bytes = bytes_of(message);
  totals_.bytes_received += bytes;
  session_->counter(to_.id).bytes_received += bytes;
}

void CallRecord::end(bool succeeded) {
  if (std::exchange(ended_, true)) return;
  const auto now = Clock::now();
  CallCounter& counter = session_->counter(to_.id);
  --counter.outstanding;
  if (succeeded) {
    counter.latency_ns += std::chrono::duration_cast<std::chrono::nanoseconds>(now - begun_).count();
    totals_.seconds = std::chrono::duration<double>(now - begun_).count();
  } else {
    ++counter.failed;
    totals_.failed = 1;
  }
  totals_.calls = 1;
  metrics::Reporter::of_process().add_calls(totals_);
  session_->give_room();
  auto& trace = TraceRecorder::instance();
  if (!trace.on()) return;
  trace.exchange("rpc", function_, begun_, now,
                 "\"worker\":" + json_quoted(to_.name) + ",\"failed\":" + (succeeded ? "false" : "true"));
}

void check_context(const std::string& function, const std::string& to) {
  const std::int64_t context = current_context();
  if (context < 0 || has_context(context)) return;
  throw on_worker(Error(ErrorCode::kNotFound, "there is no distributed autograd context " + std::to_string(context) +
                                                  " on this worker: it is over, or no call has brought it here"),
                  function, to);
}

Future rpc_async(const std::string& to, const std::string& function, Values arguments, const CallOptions& options) {
  auto session = Session::current();
  const Worker& worker = session->find(to);
  check_context(function, to);
  const auto timeout = timeout_of(*session, options);
  if (options.retries < 0 || options.retries > 1000) {
    invalid("a call's retries are " + std::to_string(options.retries) + "; they must be 0 to 1000");
  }
  if (options.retries > 0 && torch_autograd::DistAutogradContainer::getInstance().hasValidContext()) {
    invalid(function + ": calls inside of a distributed autograd context are not made again: the first try would wait for gradients");
  }
  auto call = std::make_shared<Attempts>();
  call->state = std::make_shared<FutureState>(session->devices().own);
  try {
    call->record = std::make_shared<CallRecord>(session, worker, function, CallRecord::Clock::now() + timeout);
  } catch (const Error& error) {
    throw on_worker(error, function, to);
  }
  call->arguments = std::move(arguments);
  call->timeout = timeout;
  call->left = options.retries;
  call->streams = current_streams(session->devices().own);
  try_once(call);
  return Future(call->state);
}

at::IValue rpc_sync(const std::string& to, const std::string& function, Values arguments, const CallOptions& options) {
  return rpc_async(to, function, std::move(arguments), options).wait();
}

std::map<std::string, CallStatistics> statistics() {
  const auto session = Session::current();
  std::map<std::string, CallStatistics> all;
  for (const Worker& worker : session->workers()) {
    const CallCounter& counter = session->counter(worker.id);
    CallStatistics& one = all[worker.name];
    one.calls = counter.calls;
    one.failed = counter.failed;
    one.outstanding = counter.outstanding;
    one.bytes_sent = counter.bytes_sent;
    one.bytes_received = counter.bytes_received;
    one.latency = std::chrono::nanoseconds(counter.latency_ns);
  }
  return all;
}

}  // namespace tandem::rpc
