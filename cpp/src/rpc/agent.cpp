#include "rpc/agent.h"

#include <torch/csrc/distributed/autograd/context/container.h>
#include <torch/csrc/distributed/autograd/engine/dist_engine.h>
#include <torch/csrc/distributed/rpc/request_callback_no_python.h>
#include <torch/csrc/distributed/rpc/rref_context.h>
#include <torch/csrc/distributed/rpc/script_remote_call.h>
#include <torch/csrc/jit/frontend/script_type_parser.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <mutex>

#include "base/own_thread.h"

namespace tandem::rpc {
namespace {

namespace torch_rpc = torch::distributed::rpc;

constexpr const char* kTransport = "tandem_uv";

// What the next agent's TCP transport listens on. LibTorch itself takes an address once a process, from the environment
// or the host's name, which is one that others reach.
std::string& next_address() {
  static auto* address = new std::string;
  return *address;
}

void register_transport() {
  static std::once_flag once;
  std::call_once(once, [] {
    torch_rpc::TensorPipeTransportRegistry()->Register(kTransport, [] {
      auto made = torch_rpc::TensorPipeTransportRegistry()->Create("uv");
      const std::string& address = next_address();
      made->address = address.find(':') == std::string::npos ? address : "[" + address + "]:0";
      return made;
    });
  });
}

// In LibTorch's order of preference, and without what would listen elsewhere (mpt_uv) or on other hardware.
std::vector<std::string> only(const std::vector<std::string>& wanted, const std::vector<std::string>& known) {
  std::vector<std::string> both;
  for (const std::string& one : wanted) {
    if (std::ranges::find(known, one) != known.end()) both.push_back(one);
  }
  return both;
}

// LibTorch's, but for two of its steps.
class Callback final : public torch_rpc::RequestCallbackNoPython {
  using Future = c10::intrusive_ptr<torch_rpc::JitFuture>;

  // LibTorch's gives the reference the type of the value that was made, which users of it did not know, and refuses those
  // that have another.
  Future processScriptRemoteCall(torch_rpc::RpcCommandBase& rpc, const std::vector<c10::Stream>&) const override {
    auto& call = static_cast<torch_rpc::ScriptRemoteCall&>(rpc);
    TORCH_CHECK(call.hasOp(), "a remote call without an operator");
    auto& stack = call.stackRef();
    call.op()->getOperation()(stack);
    TORCH_CHECK(stack.size() == 1, "the operator of a remote call gives one value");
    return assignOwnerRRef(call.retRRefId(), call.retForkId(), asFuture(std::move(stack.front()), c10::AnyType::get()));
  }
  // LibTorch's reads from a null reference whenever a deleted one is not the value's last.
  void handleRRefDelete(c10::intrusive_ptr<torch_rpc::RRef>&) const override {}
};

c10::StrongTypePtr resolve_type(const c10::QualifiedName& name) {
  return c10::StrongTypePtr(nullptr, torch::jit::ScriptTypeParser().parseType(name.qualifiedName()));
}

// `body` on a thread that gets no signals, and so do the threads that it starts.
void without_signals(const std::function<void()>& body) {
  std::exception_ptr failure;
  start_own_thread("rpc-start", [&] {
    try {
      body();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

Agent::Agent(const AgentOptions& options, GatheredStore::AllGather all_gather)
    : options_(options), store_(c10::make_intrusive<AgentStore>(std::move(all_gather), options.world_size)) {
  without_signals([this] {
    register_transport();
    next_address() = options_.address;
    torch_rpc::TensorPipeRpcBackendOptions native(
        options_.threads, only({"shm", kTransport}, torch_rpc::TensorPipeTransportRegistry()->Keys()),
        only({"cma", "basic"}, torch_rpc::TensorPipeChannelRegistry()->Keys()),
        static_cast<float>(options_.rpc_timeout.count()) / 1000, "");
    native_ = std::make_shared<Native>(store_, options_.name, static_cast<torch_rpc::worker_id_t>(options_.rank),
                                       options_.world_size, std::move(native),
                                       std::unordered_map<std::string, torch_rpc::DeviceMap>(),
                                       std::vector<c10::Device>(),
                                       std::make_unique<Callback>());
    native_->setTypeResolver(std::make_shared<torch_rpc::TypeResolver>(resolve_type));
    torch::distributed::autograd::DistAutogradContainer::init(options_.rank);
    torch_rpc::RpcAgent::setCurrentRpcAgent(native_);
    torch_rpc::RRefContext::getInstance();
    torch::distributed::autograd::DistEngine::getInstance();
    native_->start();
  });
  store_->close();
}

std::int64_t Agent::active_calls() {
  const auto metrics = native_->getMetrics();
  const auto found = metrics.find("agent.client_active_calls");
  return found == metrics.end() ? 0 : std::atoll(found->second.c_str());
}

void Agent::end() {
  torch_rpc::RRefContext::destroyInstance(/*ignoreRRefLeak=*/true);
  native_->shutdown();
}

}  // namespace tandem::rpc
