#include "rpc/call.h"

#include <torch/csrc/distributed/autograd/context/container.h>
#include <torch/csrc/distributed/autograd/utils.h>
#include <torch/csrc/distributed/rpc/script_call.h>
#include <torch/csrc/distributed/rpc/utils.h>

#include <utility>

#include "base/invalid.h"
#include "rpc/call_operator.h"
#include "rpc/failure_value.h"
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

void try_again(const std::shared_ptr<Attempts>& call);

void take_answer(const std::shared_ptr<Attempts>& call, torch_rpc::JitFuture& answer) {
  try {
    if (answer.hasError()) {
      const Error error = transport_failure(answer, call->record->session().has_left());
      if (error.code() == ErrorCode::kTimeout && call->left > 0) {
        --call->left;
        return try_again(call);
      }
      return fail(*call, error);
    }
    const auto message = answer.constValue().toCustomClass<torch_rpc::Message>();
    call->record->add_received(*message);
    at::IValue value = torch_rpc::deserializeRespToIValue(*message);
    if (const auto failure = failure_in(value)) return fail(*call, *failure);
    call->record->end(true);
    call->state->succeed(std::move(value));
  } catch (const std::exception& other) {
    fail(*call, transport_failure(other, false));
  }
}

void try_again(const std::shared_ptr<Attempts>& call) {
  Session& session = call->record->session();
  Values arguments = call->left > 0 ? call->arguments : std::move(call->arguments);
  const Worker& to = call->record->to();
  try {
    auto message = torch_rpc::ScriptCall(call_operator_of_messages(),
                                         operands(call->record->function(), std::move(arguments)))
                       .toMessage();
    call->record->add_sent(*message);
    auto& agent = session.agent().native();
    const auto answer = torch_autograd::sendMessageWithAutograd(
        agent, agent.getWorkerInfo(static_cast<torch_rpc::worker_id_t>(to.id)), std::move(message),
        /*forceGradRecording=*/true, seconds(call->timeout), /*forceDisableProfiling=*/true);
    answer->addCallback([call](torch_rpc::JitFuture& done) { take_answer(call, done); });
  } catch (const std::exception& other) {
    fail(*call, transport_failure(other, session.has_left()));
  }
}

}  // namespace

milliseconds timeout_of(const Session& session, const CallOptions& options) {
  constexpr milliseconds kLongest = std::chrono::hours(24 * 24);
  if (options.timeout.count() < 0 || options.timeout > kLongest) {
    invalid("a call's timeout is " + std::to_string(options.timeout.count()) + " ms; it must be at most 24 days, or 0");
  }
  return options.timeout.count() == 0 ? session.options().rpc_timeout : options.timeout;
}

Values operands(const std::string& function, Values arguments) {
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
  session_->counter(to_.id).bytes_sent += bytes_of(message);
}

void CallRecord::add_received(const torch_rpc::Message& message) {
  session_->counter(to_.id).bytes_received += bytes_of(message);
}

void CallRecord::end(bool succeeded) {
  if (std::exchange(ended_, true)) return;
  const auto now = Clock::now();
  CallCounter& counter = session_->counter(to_.id);
  --counter.outstanding;
  if (succeeded) {
    counter.latency_ns += std::chrono::duration_cast<std::chrono::nanoseconds>(now - begun_).count();
  } else {
    ++counter.failed;
  }
  session_->give_room();
  auto& trace = TraceRecorder::instance();
  if (!trace.on()) return;
  trace.exchange("rpc", function_, begun_, now,
                 "\"worker\":" + json_quoted(to_.name) + ",\"failed\":" + (succeeded ? "false" : "true"));
}

Future rpc_async(const std::string& to, const std::string& function, Values arguments, const CallOptions& options) {
  auto session = Session::current();
  const Worker& worker = session->find(to);
  const auto timeout = timeout_of(*session, options);
  if (options.retries < 0 || options.retries > 1000) {
    invalid("a call's retries are " + std::to_string(options.retries) + "; they must be 0 to 1000");
  }
  if (options.retries > 0 && torch_autograd::DistAutogradContainer::getInstance().hasValidContext()) {
    invalid(function + ": calls inside of a distributed autograd context are not made again: the first try would wait for gradients");
  }
  auto call = std::make_shared<Attempts>();
  call->state = std::make_shared<FutureState>();
  try {
    call->record = std::make_shared<CallRecord>(session, worker, function, CallRecord::Clock::now() + timeout);
  } catch (const Error& error) {
    throw on_worker(error, function, to);
  }
  call->arguments = std::move(arguments);
  call->timeout = timeout;
  call->left = options.retries;
  try_again(call);
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
