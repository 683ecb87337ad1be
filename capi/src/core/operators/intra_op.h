// Which threads compute with several cores.
//
// LibTorch's OpenMP (libgomp) keeps a pool of threads for every thread that ever ran a parallel region. A program whose
// tasks move between threads, as goroutines do, would gather a pool on each of them: 139 threads with 64 goroutines on
// two cores. So a thread that calls Tandem computes alone, but for the first that has large work: it gets a pool for
// good. Large work of others goes to one compute thread of Tandem's, which has a pool too, or, while that is busy, is
// done alone: the cores have work then.
//
// How many threads OpenMP gives to a thread is a setting of that thread, which belongs to the program and its own
// parallel regions: it is changed for as long as a call of Tandem's lasts, and is the program's again inside callbacks.
#pragma once

#include <atomic>
#include <functional>

#include "openmp.h"
#include "thread_state.h"

namespace tandem::capi {

// Threads that one operator may use; at first what LibTorch chose (OMP_NUM_THREADS, else the cores).
extern std::atomic<int> wanted_threads __attribute__((visibility("hidden")));
inline int intra_op_threads() {
  return wanted_threads.load(std::memory_order_relaxed);
}
void set_intra_op_threads(int threads);

// Called once, before any other thread calls: reads LibTorch's choice.
void start_intra_op();

// Gives the pool of a thread that ends to whoever asks next.
void end_intra_op(const ThreadState& ending);

// Around a call of Tandem's: OpenMP's number of threads is Tandem's while it lives, and the program's afterwards. Does
// nothing in calls within calls, and on threads whose number has another owner (ThreadState::threads_are_fixed).
class TandemsThreads {
 public:
  explicit TandemsThreads(ThreadState& state) : state_(enters(state) ? &state : nullptr) {
    if (state_) enter(*state_);
  }
  ~TandemsThreads() {
    if (state_) leave(*state_);
  }
  TandemsThreads(const TandemsThreads&) = delete;
  TandemsThreads& operator=(const TandemsThreads&) = delete;

 private:
  friend class ProgramsThreads;
  static bool enters(const ThreadState& state) { return state.programs_threads == 0 && !state.threads_are_fixed; }
  static void enter(ThreadState& state) {
    if (!has_openmp()) return;
    state.programs_threads = openmp.get_max_threads();
    const int wanted = state.has_pool ? wanted_threads.load(std::memory_order_relaxed) : 1;
    if (state.intra_op_threads == 0) [[unlikely]] {
      set_openmp_threads(wanted);  // this thread's first call, in which LibTorch sets it up
    } else if (state.programs_threads != wanted) {
      openmp.set_num_threads(wanted);
    }
    state.intra_op_threads = wanted;
  }
  static void leave(ThreadState& state) {
    if (state.programs_threads == 0) return;
    if (state.programs_threads != state.intra_op_threads) {
      openmp.set_num_threads(state.programs_threads);
      state.intra_op_threads = state.programs_threads;
    }
    state.programs_threads = 0;
  }

  ThreadState* state_;
};

// Around a callback of the program's, which may compute with OpenMP itself: the number is the program's while it lives.
class ProgramsThreads {
 public:
  explicit ProgramsThreads(ThreadState& state);
  ~ProgramsThreads();
  ProgramsThreads(const ProgramsThreads&) = delete;
  ProgramsThreads& operator=(const ProgramsThreads&) = delete;

 private:
  ThreadState* state_;  // NULL: the number was the program's
};

// Whether this thread has its pool already, or none is wanted: what follows may just run.
bool computes_widely(ThreadState& state);

// Runs `work` with several cores where it can, with this thread's modes (grad, autocast …), and rethrows what it
// throws. Returns when it is done. For callers for whom computes_widely() is false, and for work on the CPU alone: of
// other devices the modes do not say which is current, nor its stream.
void run_widely(ThreadState& state, const std::function<void()>& work);

// `is_on_cpu()` is asked where the work would go to another thread: whether all that it reads, writes and makes lies on
// the CPU (core/operators/on_cpu.h).
template <typename IsOnCpu, typename Work>
void run_large(IsOnCpu&& is_on_cpu, Work&& work) {
  ThreadState& state = thread_state();
  if (computes_widely(state) || !is_on_cpu()) {
    work();
  } else {
    run_widely(state, std::ref(work));
  }
}

}  // namespace tandem::capi
