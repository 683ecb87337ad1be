#include "tandem/runtime.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "tandem/error.h"
#include "thread_state.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kExitGrace{2000};

struct Hook {
  std::string name;
  std::function<void()> stop;
};

struct State {
  std::mutex mutex;
  std::string libtorch_version;
  bool has_cuda = false;
  std::string no_cuda_reason = "the program did not load CUDA";
  long next_id = 0;
  std::map<long, Hook> hooks;
  // The hook that a shutdown is stopping now, by whom.
  long stopping = -1;
  std::string stopping_name;
  std::thread::id stopping_thread;
  bool stopper_runs = false;
  std::string failures;
  std::condition_variable changed;
};

State& state() {
  static auto* instance = new State;  // never destroyed: threads may outlive static destructors
  return *instance;
}

// Makes the marks that other threads stored before they read core_closed visible here.
void await_marks() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return;
  // A kernel without it, or one that refuses: store buffers drain in far less than this.
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

// "2 × tdm_op_call, tdm_work_wait"; "" when no other thread is inside a call.
std::string calls_in_flight() {
  std::map<std::string, int> found;
  for (const ThreadState* thread = first_thread_state(); thread; thread = thread->next) {
    if (thread == current_thread_state) continue;
    if (const char* operation = thread->operation.load(std::memory_order_acquire)) ++found[operation];
  }
  std::string text;
  for (const auto& [operation, count] : found) {
    text += (text.empty() ? "" : ", ") + operation + (count > 1 ? " (" + std::to_string(count) + " threads)" : "");
  }
  return text;
}

// Stops hooks, newest first, until none is left. On a thread of its own, for a hook may block.
void stop_hooks() {
  State& all = state();
  std::unique_lock<std::mutex> lock(all.mutex);
  while (!all.hooks.empty()) {
    const auto newest = std::prev(all.hooks.end());
    all.stopping = newest->first;
    Hook hook = std::move(newest->second);
    all.hooks.erase(newest);
    all.stopping_name = hook.name;
    all.stopping_thread = std::this_thread::get_id();
    lock.unlock();
    std::string failure;
    try {
      hook.stop();
    } catch (const std::exception& error) {
      failure = hook.name + ": " + error.what();
    } catch (...) {
      failure = hook.name + ": an exception that is no std::exception";
    }
    hook.stop = nullptr;
    lock.lock();
    if (!failure.empty()) all.failures += (all.failures.empty() ? "" : "; ") + failure;
    all.stopping = -1;
    all.changed.notify_all();
  }
  all.stopper_runs = false;
  all.changed.notify_all();
}

// What still runs at the deadline; "" for nothing.
std::string stop_until(Clock::time_point deadline) {
  core_closed.store(1);
  await_marks();
  State& all = state();
  std::unique_lock<std::mutex> lock(all.mutex);
  if (!all.hooks.empty() && !all.stopper_runs) {
    all.stopper_runs = true;
    std::thread(stop_hooks).detach();
  }
  if (!all.changed.wait_until(lock, deadline, [&] { return !all.stopper_runs; })) {
    std::string left = "stopping " + all.stopping_name;
    for (const auto& [id, hook] : all.hooks) left += ", " + hook.name;
    return left;
  }
  lock.unlock();
  for (;;) {
    const std::string calls = calls_in_flight();
    if (calls.empty() || Clock::now() >= deadline) return calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// As exit() would, but a thread that waits for input holds its stream's lock, and exit must not wait for that.
void flush_streams() {
  struct Flush {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
  };
  auto flush = std::make_shared<Flush>();
  std::thread([flush] {
    std::fflush(nullptr);
    std::lock_guard<std::mutex> lock(flush->mutex);
    flush->done = true;
    flush->changed.notify_all();
  }).detach();
  std::unique_lock<std::mutex> lock(flush->mutex);
  flush->changed.wait_for(lock, std::chrono::seconds(1), [&] { return flush->done; });
}

pid_t owner_process = 0;

void leave(int status, void*) {
  static std::atomic<bool> left{false};
  // A forked child has none of the threads.
  if (getpid() != owner_process || left.exchange(true)) return;
  process_exits.store(true);
  try {
    if (stop_until(Clock::now() + kExitGrace).empty()) return;
    flush_streams();
  } catch (...) {
    // No memory or no thread to stop with: leave without tearing down.
  }
  _exit(status);
}

struct Armed {
  Armed() {
    owner_process = getpid();
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    rearm_exit();
  }
} armed;

}  // namespace

// At first uses, then ever more rarely: a program may make modules without end.
void rearm_exit() {
  static std::atomic<unsigned> calls{0};
  const unsigned call = ++calls;
  if (call <= 512 || (call & (call - 1)) == 0) on_exit(leave, nullptr);
}

void start_runtime(const std::string& libtorch_version, bool has_cuda, const std::string& no_cuda_reason) {
  rearm_exit();
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
    throw Error(ErrorCode::kUnsupported, asked_by + " needs a GPU, but " + state().no_cuda_reason +
                                             "; compute on the CPU, or run this where there is a GPU");
  }
}

ShutdownHook::ShutdownHook(std::string name, std::function<void()> stop) {
  std::lock_guard<std::mutex> lock(state().mutex);
  // Under the lock: a shutdown that is not seen here finds this hook.
  if (core_closed.load()) throw Error(ErrorCode::kClosed, "Tandem was shut down before " + name + " was made");
  id_ = state().next_id++;
  state().hooks[id_] = {std::move(name), std::move(stop)};
}

ShutdownHook::~ShutdownHook() {
  State& all = state();
  std::unique_lock<std::mutex> lock(all.mutex);
  all.hooks.erase(id_);
  // The object whose hook is being stopped must outlive that.
  if (all.stopping_thread == std::this_thread::get_id()) return;
  all.changed.wait(lock, [&] { return all.stopping != id_; });
}

void shutdown(std::chrono::milliseconds timeout) {
  const std::string left = stop_until(Clock::now() + timeout);
  if (!left.empty()) {
    throw Error(ErrorCode::kTimeout, "after " + std::to_string(timeout.count()) + " ms there still runs: " + left +
                                         "; wait longer, or end what computes before");
  }
  std::lock_guard<std::mutex> lock(state().mutex);
  if (!state().failures.empty()) {
    throw Error(ErrorCode::kInternal, "while stopping: " + std::exchange(state().failures, ""));
  }
}

Computing::Computing(const char* what) : outermost_(false) {
  std::atomic<const char*>& operation = thread_state().operation;
  if (!operation.load(std::memory_order_relaxed)) {
    outermost_ = true;
    operation.store(what, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  if (core_closed.load(std::memory_order_relaxed)) {
    if (outermost_) operation.store(nullptr, std::memory_order_release);
    throw Error(ErrorCode::kClosed, std::string(what) + " began after Tandem was shut down");
  }
}

Computing::~Computing() {
  if (!outermost_) return;
  thread_state().operation.store(nullptr, std::memory_order_release);
}

}  // namespace tandem
