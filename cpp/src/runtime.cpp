#include "tandem/runtime.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "tandem/error.h"

namespace tandem {
namespace {

struct State {
  std::mutex mutex;
  std::string libtorch_version;
  bool has_cuda = false;
  std::string no_cuda_reason = "the program did not load CUDA";
  long next_id = 0;
  std::map<long, std::pair<std::string, std::function<void()>>> hooks;
};

State& state() {
  static auto* instance = new State;  // never destroyed: threads may outlive static destructors
  return *instance;
}

}  // namespace

void start_runtime(const std::string& libtorch_version, bool has_cuda, const std::string& no_cuda_reason) {
  std::lock_guard<std::mutex> lock(state().mutex);
  state().libtorch_version = libtorch_version;
  state().has_cuda = has_cuda;
  state().no_cuda_reason = no_cuda_reason;
}

bool has_cuda() {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().has_cuda;
}

void require_cuda(const std::string& asked_by) {
  std::lock_guard<std::mutex> lock(state().mutex);
  if (!state().has_cuda) {
    throw Error(ErrorCode::kUnsupported, asked_by + " needs a GPU, but " + state().no_cuda_reason);
  }
}

ShutdownHook::ShutdownHook(std::string name, std::function<void()> stop) {
  std::lock_guard<std::mutex> lock(state().mutex);
  id_ = state().next_id++;
  state().hooks[id_] = {std::move(name), std::move(stop)};
}

ShutdownHook::~ShutdownHook() {
  std::lock_guard<std::mutex> lock(state().mutex);
  state().hooks.erase(id_);
}

void shutdown(std::chrono::milliseconds timeout) {
  (void)timeout;
  for (;;) {
    std::function<void()> stop;
    {
      std::lock_guard<std::mutex> lock(state().mutex);
      if (state().hooks.empty()) return;
      auto newest = std::prev(state().hooks.end());
      stop = newest->second.second;
      state().hooks.erase(newest);
    }
    stop();
  }
}

}  // namespace tandem
