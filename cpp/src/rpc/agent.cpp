#include "rpc/agent.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/StreamGuard.h>
#include <torch/csrc/distributed/autograd/context/container.h>
#include <torch/csrc/distributed/autograd/engine/dist_engine.h>
#include <torch/csrc/distributed/rpc/rref_context.h>
#include <torch/csrc/jit/frontend/script_type_parser.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <type_traits>
#include <utility>

#include "base/own_thread.h"
#include "rpc/callback.h"
#include "rpc/expose.h"
#include "rpc/failure_value.h"
#include "rpc/sendable.h"
#include "rpc/streams.h"

namespace tandem::rpc {
namespace {

namespace torch_rpc = torch::distributed::rpc;

constexpr const char* kTransport = "tandem_uv";
// LibTorch's threads beside those that may run functions: they take calls and bring answers.
constexpr int kSpareThreads = 2;

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

// LibTorch's, but a tensor that it cannot write is an error of the answer that has it, and not the process's end.
class CheckedAgent final : public torch_rpc::TensorPipeAgent {
 public:
  using TensorPipeAgent::TensorPipeAgent;

 protected:
  void pipeWrite(const std::shared_ptr<tensorpipe::Pipe>& pipe, const c10::intrusive_ptr<torch_rpc::Message>& message,
                 std::vector<c10::Device>&& devices, std::vector<c10::Stream> streams,
                 std::function<void(const tensorpipe::Error&)> done) noexcept override {
    c10::intrusive_ptr<torch_rpc::Message> written = message;
    const bool has_gpus = std::ranges::any_of(message->tensors(), [](const at::Tensor& one) { return one.is_cuda(); });
    if (message->isResponse()) {
      for (const at::Tensor& tensor : message->tensors()) {
        const std::string reason = why_not_sendable(tensor);
        if (reason.empty()) continue;
        const Error error(ErrorCode::kInvalidArgument, "the value " + reason);
        written = torch_rpc::createExceptionResponse(failure_text(error), message->id());
        devices.clear();
        break;
      }
    }
    if (has_gpus && written == message) {
      try {
        if (message->isResponse()) take_copies(message->tensors(), streams);
        // The other side has begun to copy by then; on this GPU the copying is part of `streams`.
        done = [streams, done = std::move(done)](const tensorpipe::Error& error) {
          try {
            before_default_streams(streams);
          } catch (const c10::Error&) {
            // The GPU has failed, which whoever uses it next is told.
          }
          done(error);
        };
      } catch (const c10::Error& failure) {
        const Error error(ErrorCode::kInternal, failure.what_without_backtrace());
        written = torch_rpc::createExceptionResponse(failure_text(error), message->id());
        devices.clear();
      }
    }
    TensorPipeAgent::pipeWrite(pipe, written, std::move(devices), std::move(streams), std::move(done));
  }

 private:
  // An answer has what its tensors are now, after all functions that have ended; others that have them may change them while
  // they are copied to the other side.
  static void take_copies(std::vector<at::Tensor>& tensors, const std::vector<c10::Stream>& streams) {
    const c10::MultiStreamGuard guard(streams);
    const at::NoGradGuard no_grad;
    after_default_streams(streams);
    for (at::Tensor& tensor : tensors) {
      const bool is_shared = tensor.use_count() > 1 || (tensor.has_storage() && tensor.storage().use_count() > 1);
      if (tensor.is_cuda() && is_shared) tensor = tensor.clone();
    }
    before_default_streams(streams);
  }
};

// LibTorch's destroyInstance() reads and clears what its threads, and the program's, may be changing.
struct OwnersTag {
  friend auto& member_of(torch_rpc::RRefContext& context, OwnersTag);
};
struct ForksTag {
  friend auto& member_of(torch_rpc::RRefContext& context, ForksTag);
};
struct MutexTag {
  friend auto& member_of(torch_rpc::RRefContext& context, MutexTag);
};
struct DestroyedTag {
  friend auto& member_of(torch_rpc::RRefContext& context, DestroyedTag);
};
struct DestroyedMutexTag {
  friend auto& member_of(torch_rpc::RRefContext& context, DestroyedMutexTag);
};
template struct Expose<torch_rpc::RRefContext, OwnersTag, &torch_rpc::RRefContext::owners_>;
template struct Expose<torch_rpc::RRefContext, ForksTag, &torch_rpc::RRefContext::forks_>;
template struct Expose<torch_rpc::RRefContext, MutexTag, &torch_rpc::RRefContext::mutex_>;
template struct Expose<torch_rpc::RRefContext, DestroyedTag, &torch_rpc::RRefContext::destroyed_>;
template struct Expose<torch_rpc::RRefContext, DestroyedMutexTag, &torch_rpc::RRefContext::destroyedMutex_>;

struct ShuttingDownTag {
  friend auto& member_of(torch_rpc::TensorPipeAgent& agent, ShuttingDownTag);
};
template struct Expose<torch_rpc::TensorPipeAgent, ShuttingDownTag, &torch_rpc::TensorPipeAgent::shuttingDown_>;

// Deletions tell nobody any more.
void stop_references() {
  auto& context = torch_rpc::RRefContext::getInstance();
  const std::lock_guard<std::mutex> lock(member_of(context, DestroyedMutexTag{}));
  member_of(context, DestroyedTag{}) = true;
}

void drop_values() {
  auto& context = torch_rpc::RRefContext::getInstance();
  std::remove_reference_t<decltype(member_of(context, OwnersTag{}))> owners;  // without the lock
  const std::lock_guard<std::mutex> lock(member_of(context, MutexTag{}));
  owners.swap(member_of(context, OwnersTag{}));
  member_of(context, ForksTag{}).clear();
}

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
    : options_(options),
      store_(c10::make_intrusive<AgentStore>(std::move(all_gather), options.world_size)),
      pool_(options.threads, options.most_threads - options.threads) {
  without_signals([this] {
    register_transport();
    next_address() = options_.address;
    std::vector<std::string> channels{"cma", "basic"};
    // What comes for a GPU is put there before this process may have made a tensor of its own.
    if (!options_.devices.own.empty()) at::globalContext().lazyInitDevice(c10::kCUDA);
    if (!options_.devices.own.empty()) channels = {"cma", "basic", "cuda_ipc", "cuda_gdr", "cuda_xth", "cuda_basic"};
    torch_rpc::TensorPipeRpcBackendOptions native(
        options_.threads + kSpareThreads, only({"shm", kTransport}, torch_rpc::TensorPipeTransportRegistry()->Keys()),
        only(channels, torch_rpc::TensorPipeChannelRegistry()->Keys()),
        static_cast<float>(options_.rpc_timeout.count()) / 1000, "", options_.devices.there, options_.devices.own);
    native_ = std::make_shared<CheckedAgent>(store_, options_.name, static_cast<torch_rpc::worker_id_t>(options_.rank),
                                             options_.world_size, std::move(native), options_.devices.back,
                                             options_.devices.own, std::make_unique<Callback>(pool_));
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
  return static_cast<std::int64_t>(native_->numPendingResponses());
}

// LibTorch's join() does that too, but waits for answers that may never come.
void Agent::expect_end() {
  member_of(*native_, ShuttingDownTag{}) = true;
}

void Agent::end() {
  stop_references();
  native_->shutdown();
  pool_.close();
  drop_values();
}

}  // namespace tandem::rpc
