#include "rpc/callback.h"

#include <c10/core/StreamGuard.h>
#include <torch/csrc/distributed/autograd/context/container.h>
#include <torch/csrc/distributed/autograd/rpc_messages/cleanup_autograd_context_req.h>
#include <torch/csrc/distributed/autograd/rpc_messages/propagate_gradients_req.h>
#include <torch/csrc/distributed/autograd/rpc_messages/rpc_with_autograd.h>
#include <torch/csrc/distributed/rpc/rpc_agent.h>
#include <torch/csrc/distributed/rpc/script_remote_call.h>
#include <torch/csrc/distributed/rpc/script_resp.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "rpc/call_operator.h"
#include "rpc/failure_value.h"
#include "rpc/sendable.h"
#include "rpc/streams.h"
#include "rpc/used_graph.h"
#include "tandem/dist_autograd.h"

namespace tandem::rpc {
namespace {

namespace torch_rpc = torch::distributed::rpc;
namespace torch_autograd = torch::distributed::autograd;
using Container = torch_autograd::DistAutogradContainer;

// This thread takes a request, and holds up nothing else.
thread_local bool takes_request = false;

Callback::Future future_of(c10::TypePtr type) {
  return c10::make_intrusive<torch_rpc::JitFuture>(std::move(type), torch_rpc::RpcAgent::getCurrentRpcAgent()->getDevices());
}

c10::TypePtr message_type() {
  return c10::getCustomClassType<c10::intrusive_ptr<torch_rpc::Message>>();
}

void complete(torch_rpc::JitFuture& future, const c10::intrusive_ptr<torch_rpc::Message>& message) {
  auto storages = message->getStorages();
  future.markCompleted(message, std::move(storages));
}

at::IValue value_of_call(const torch::jit::Operator& op, torch::jit::Stack stack, const Callback::Streams& streams) {
  at::IValue value = run_message(op, std::move(stack));
  before_default_streams(streams);
  return value;
}

// The same, as an answer's: before anything of it is written, since references would be counted then.
at::IValue result_of_call(const torch::jit::Operator& op, torch::jit::Stack stack, const Callback::Streams& streams) {
  at::IValue value = value_of_call(op, std::move(stack), streams);
  try {
    if (const std::int64_t context = current_context(); context != -1 && !has_context(context)) {
      throw Error(ErrorCode::kAborted, "the context of distributed autograd is over in which it was called");
    }
    const auto& devices = torch_rpc::RpcAgent::getCurrentRpcAgent()->getDevices();
    check_sendable(value, "the result", [&](at::Device device) { return std::ranges::find(devices, device) != devices.end(); });
  } catch (const Error& error) {
    return failure_value(error);
  }
  return value;
}

// Fails the future where a pool that closes drops the task before it has begun: nobody else would complete it.
struct Begun {
  explicit Begun(Callback::Future of) : future(std::move(of)) {}
  ~Begun() {
    if (future) future->setErrorIfNeeded(std::make_exception_ptr(Error(ErrorCode::kAborted, "this worker has left (rpc::shutdown)")));
  }
  Begun(const Begun&) = delete;
  Begun& operator=(const Begun&) = delete;
  Callback::Future future;
};

// `body` completes the future, or throws. Both in the call's streams: an answer goes once what they were given is done, and
// LibTorch takes those for them that are current when its future is completed.
FunctionPool::Task completing(Callback::Future future, const Callback::Streams& streams,
                              std::function<void(torch_rpc::JitFuture&)> body) {
  return [begun = std::make_shared<Begun>(std::move(future)), streams, body = std::move(body),
          context = Container::currentContextId()] {
    const Callback::Future future = std::exchange(begun->future, nullptr);
    const WithContext inside(context);
    try {
      const c10::MultiStreamGuard guard(streams);
      after_default_streams(streams);
      body(*future);
    } catch (...) {
      future->setErrorIfNeeded(std::current_exception());
    }
  };
}

}  // namespace

void Callback::Over::add(std::int64_t context) {
  constexpr std::size_t kMost = 4096;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!all_.insert(context).second) return;
  order_.push_back(context);
  if (order_.size() <= kMost) return;
  all_.erase(order_.front());
  order_.pop_front();
}

bool Callback::Over::has(std::int64_t context) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return all_.contains(context);
}

Callback::Future Callback::processMessage(Message& request, Streams streams) const {
  const bool outer = std::exchange(takes_request, true);
  try {
    Future answer = RequestCallbackNoPython::processMessage(request, std::move(streams));
    takes_request = outer;
    return answer;
  } catch (...) {
    takes_request = outer;
    throw;
  }
}

void Callback::forget_context(std::int64_t context) const {
  Container::getInstance().releaseContextIfPresent(context);
  forget_sends(context);
}

Callback::Future Callback::processRpcWithErrors(Command& rpc, const Type& type, const Streams& streams) const {
  if (type == Type::BACKWARD_AUTOGRAD_REQ) return backward(rpc, streams);
  if (type == Type::CLEANUP_AUTOGRAD_CONTEXT_REQ) {
    const std::int64_t context = static_cast<torch_autograd::CleanupAutogradContextReq&>(rpc).getContextId();
    over_.add(context);
    Future answer = RequestCallbackNoPython::processRpcWithErrors(rpc, type, streams);
    forget_sends(context);
    return answer;
  }
  if (type != Type::FORWARD_AUTOGRAD_REQ) return RequestCallbackNoPython::processRpcWithErrors(rpc, type, streams);
  // A call that comes after its context was released makes the context anew, and nobody would release it again.
  const std::int64_t context = static_cast<torch_autograd::RpcWithAutograd&>(rpc).autogradMetadata().autogradContextId;
  Future answer = RequestCallbackNoPython::processRpcWithErrors(rpc, type, streams);
  if (over_.has(context)) {
    answer->addCallback([this, context](torch_rpc::JitFuture&) { forget_context(context); });
  }
  return answer;
}

Callback::Future Callback::processScriptCall(Command& rpc, const Streams& streams) const {
  auto& call = static_cast<torch_rpc::ScriptCall&>(rpc);
  TORCH_CHECK(call.hasOp(), "a call without an operator");
  Future answer = future_of(message_type());
  pool_.run(completing(answer, streams,
                       [op = call.op(), stack = std::move(call.stackRef()), streams](torch_rpc::JitFuture& future) {
                         complete(future, torch_rpc::ScriptResp(result_of_call(*op, stack, streams)).toMessage());
                       }),
            takes_request);
  return answer;
}

// The owner has the reference from now on, whenever its value comes: a deletion finds it. LibTorch's gives it the type of
// the value that was made, which users of it did not know, and refuses those that have another.
Callback::Future Callback::processScriptRemoteCall(Command& rpc, const Streams& streams) const {
  auto& call = static_cast<torch_rpc::ScriptRemoteCall&>(rpc);
  TORCH_CHECK(call.hasOp(), "a remote call without an operator");
  Future value = future_of(c10::AnyType::get());
  Future answer = assignOwnerRRef(call.retRRefId(), call.retForkId(), value);
  pool_.run(completing(value, streams,
                       [op = call.op(), stack = std::move(call.stackRef()), streams](torch_rpc::JitFuture& future) {
                         future.markCompleted(value_of_call(*op, stack, streams));
                       }),
            takes_request);
  return answer;
}

// Hooks of the graph may call others.
Callback::Future Callback::backward(Command& rpc, const Streams& streams) const {
  auto& given = static_cast<torch_autograd::PropagateGradientsReq&>(rpc);
  const auto request = std::make_shared<torch_autograd::PropagateGradientsReq>(given.getAutogradMetadata(), given.getGrads(),
                                                                               given.retainGraph());
  Future answer = future_of(message_type());
  pool_.run(completing(answer, streams,
                       [this, request, streams](torch_rpc::JitFuture& future) {
                         const Future inner = RequestCallbackNoPython::processRpcWithErrors(
                             *request, Type::BACKWARD_AUTOGRAD_REQ, streams);
                         inner->addCallback([answer = c10::intrusive_ptr<torch_rpc::JitFuture>::reclaim_copy(&future)](
                                                torch_rpc::JitFuture& done) {
                           if (done.hasError()) {
                             answer->setError(done.exception_ptr());
                           } else {
                             complete(*answer, done.constValue().toCustomClass<torch_rpc::Message>());
                           }
                         });
                       }),
            takes_request);
  return answer;
}

}  // namespace tandem::rpc
