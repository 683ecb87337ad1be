#include "thread_state.h"

#include <pthread.h>

#include <array>
#include <mutex>
#include <new>

#include "memory/fork_locks.h"

namespace tandem {

__thread ThreadState* current_thread_state = nullptr;
std::atomic<int> core_closed{0};
std::atomic<bool> process_exits{false};

namespace {

// States are never freed: a thread's counts outlive it, and shutdown() reads states without a lock.
struct Registry {
  std::mutex mutex;
  std::array<ThreadState, 8> reserve;  // for threads that first call where there is no memory
  std::size_t reserve_used = 0;
  std::atomic<ThreadState*> all{nullptr};
  ThreadState* idle = nullptr;
  std::atomic<void (*)(ThreadState&)> thread_begin{nullptr};
  std::atomic<void (*)(ThreadState&)> thread_end{nullptr};
};

void forget_other_threads();

Registry& registry() {
  static auto* instance = [] {
    auto* made = new Registry;
    hold_in_fork(ForkLock::thread_states, made->mutex);
    pthread_atfork(nullptr, nullptr, forget_other_threads);
    return made;
  }();
  return *instance;
}

// Made when the library is loaded: a fork beside the first use would leave the child in the middle of it.
[[maybe_unused]] const Registry& registry_at_load = registry();

// In a forked child the other threads, and their calls, do not exist.
void forget_other_threads() {
  for (ThreadState* state = registry().all.load(); state; state = state->next) {
    if (state != current_thread_state) state->operation.store(nullptr);
  }
}

// Gives the state back when its thread ends.
struct Reaper {
  ThreadState* state = nullptr;
  ~Reaper() {
    if (!state) return;
    if (auto* handler = registry().thread_end.load()) handler(*state);
    current_thread_state = nullptr;
    state->threads_are_fixed = false;
    state->operation.store(nullptr, std::memory_order_release);
    std::lock_guard<std::mutex> lock(registry().mutex);
    state->next_idle = registry().idle;
    registry().idle = state;
  }
};

thread_local Reaper reaper;

template <typename Read>
std::int64_t sum(Read&& read) {
  std::int64_t total = 0;
  for (ThreadState* state = first_thread_state(); state; state = state->next) total += read(*state);
  return total;
}

}  // namespace

ThreadState* first_thread_state() {
  return registry().all.load(std::memory_order_acquire);
}

ThreadState& make_thread_state() {
  Registry& all = registry();
  std::unique_lock<std::mutex> lock(all.mutex);
  ThreadState* state = all.idle;
  if (state) {
    all.idle = state->next_idle;
  } else {
    state = new (std::nothrow) ThreadState;
    if (!state) {
      if (all.reserve_used == all.reserve.size()) throw std::bad_alloc();
      state = &all.reserve[all.reserve_used++];
    }
    state->next = all.all.load(std::memory_order_relaxed);
    all.all.store(state, std::memory_order_release);
  }
  lock.unlock();
  reaper.state = state;
  current_thread_state = state;
  if (auto* handler = all.thread_begin.load()) handler(*state);
  return *state;
}

void set_thread_begin_handler(void (*handler)(ThreadState&)) {
  registry().thread_begin.store(handler);
}

void set_thread_end_handler(void (*handler)(ThreadState&)) {
  registry().thread_end.store(handler);
}

const char* kind_name(Kind kind) {
  static const char* const names[kKindCount] = {"tensor",
                                                "module",
                                                "optimizer",
                                                "store",
                                                "process_group",
                                                "work",
                                                "ddp",
                                                "recordio_writer",
                                                "recordio_reader",
                                                "loader",
                                                "scope",
                                                "named_tensors",
                                                "string",
                                                "strings",
                                                "mode",
                                                "hook",
                                                "callback",
                                                "generator",
                                                "stream",
                                                "event",
                                                "grad_scaler",
                                                "model_averager",
                                                "summary_writer",
                                                "data_parallel",
                                                "dataset",
                                                "sampler",
                                                "checkpoint_folder",
                                                "checkpoint",
                                                "lr_scheduler",
                                                "averaged_parameters",
                                                "elastic",
                                                "pipeline",
                                                "device_mesh",
                                                "rpc_future",
                                                "rpc_result",
                                                "rref",
                                                "distributed_optimizer",
                                                "parameter_server",
                                                "parameter_client",
                                                "own_tensors"};
  return names[static_cast<int>(kind)];
}

std::int64_t live_count(Kind kind) {
  return sum([&](ThreadState& s) { return s.live[static_cast<int>(kind)].load(std::memory_order_relaxed); });
}

std::int64_t live_bytes() {
  return sum([](ThreadState& s) { return s.live_bytes.load(std::memory_order_relaxed); });
}

}  // namespace tandem
