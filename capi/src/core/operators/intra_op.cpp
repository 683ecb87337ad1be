#include "core/operators/intra_op.h"

#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>
#include <ATen/TracerMode.h>

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "nn/saved_tensor_hooks.h"
#include "tandem/runtime.h"

namespace tandem::capi {

std::atomic<int> wanted_threads{1};

namespace {

std::atomic<const ThreadState*> owner{nullptr};  // the caller that has a pool

void set_threads_here(ThreadState& state, int threads) {
  if (state.intra_op_threads == threads) return;
  if (state.intra_op_threads == 0) {
    set_openmp_threads(threads);
  } else {
    change_openmp_threads(threads);
  }
  state.intra_op_threads = threads;
}

// A state may have been another thread's.
void begin_thread(ThreadState& state) {
  state.intra_op_threads = 0;
  state.programs_threads = 0;
  state.has_pool = false;
}

// Does one piece of work at a time.
class ComputeThread {
 public:
  ComputeThread() : hook_("the compute thread", [this] { stop(); }) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!stopping_) thread_ = std::thread([this] { run(); });
  }

  // False when it is busy, or stopped.
  bool try_run(const std::function<void()>& work) {
    std::unique_lock<std::mutex> turn(turn_, std::try_to_lock);
    if (!turn) return false;
    const at::ThreadLocalState modes;
    nn::SavedTensorHooks* const hooks = nn::SavedTensorHooks::current();
    std::exception_ptr failure;
    std::unique_lock<std::mutex> lock(mutex_);
    if (stopping_) return false;
    work_ = [&] {
      const at::ThreadLocalStateGuard guard(modes);
      const nn::SavedTensorHooks::Borrowed borrowed(hooks);
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
    };
    changed_.notify_all();
    changed_.wait(lock, [this] { return !work_; });
    lock.unlock();
    if (failure) std::rethrow_exception(failure);
    return true;
  }

 private:
  void run() {
    ThreadState& state = thread_state();
    state.threads_are_fixed = true;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stopping_ || work_; });
      if (!work_) return;
      lock.unlock();
      set_threads_here(state, wanted_threads.load(std::memory_order_relaxed));
      work_();
      lock.lock();
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  void stop() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    // A shutdown may come before the thread does.
    if (thread_.joinable()) thread_.join();
  }

  std::mutex turn_;  // held by whose work is done
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  bool stopping_ = false;
  std::thread thread_;
  ShutdownHook hook_;  // last: its stop() finds all the others
};

ComputeThread* compute_thread() {
  static ComputeThread* const thread =
      new ComputeThread;  // stopped by its hook; callers may outlive static destructors
  return thread;
}

}  // namespace

void set_intra_op_threads(int threads) {
  if (!has_openmp()) at::set_num_threads(threads);
  wanted_threads.store(threads, std::memory_order_relaxed);
}

void start_intra_op() {
  const int programs = openmp_threads();
  wanted_threads.store(at::get_num_threads());
  if (!has_openmp()) return;  // one pool serves all threads
  set_openmp_threads(programs);
  set_thread_begin_handler(begin_thread);
}

ProgramsThreads::ProgramsThreads(ThreadState& state) : state_(state.programs_threads != 0 ? &state : nullptr) {
  if (state_) TandemsThreads::leave(*state_);
}

ProgramsThreads::~ProgramsThreads() {
  if (state_) TandemsThreads::enter(*state_);
}

void end_intra_op(const ThreadState& ending) {
  const ThreadState* expected = &ending;
  owner.compare_exchange_strong(expected, nullptr);
}

bool computes_widely(ThreadState& state) {
  if (state.threads_are_fixed) return true;
  const int threads = wanted_threads.load(std::memory_order_relaxed);
  if (state.has_pool) {
    set_threads_here(state, threads);
    return true;
  }
  return threads == 1 || !has_openmp();
}

void run_widely(ThreadState& state, const std::function<void()>& work) {
  // A trace belongs to its thread.
  if (at::tracer::impl::is_dispatch_enabled()) return work();
  const ThreadState* nobody = nullptr;
  if (owner.compare_exchange_strong(nobody, &state)) {
    state.has_pool = true;
    set_threads_here(state, wanted_threads.load(std::memory_order_relaxed));
    work();
  } else if (!compute_thread()->try_run(work)) {
    work();
  }
}

}  // namespace tandem::capi
