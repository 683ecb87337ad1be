// Which threads compute with several cores.
//
// LibTorch's OpenMP (libgomp) keeps a pool of threads for every thread that ever ran a parallel region. A program whose
// tasks move between threads, as goroutines do, would gather a pool on each of them: 139 threads with 64 goroutines on
// two cores. So a thread that calls Tandem computes alone, but for the first that has large work: it gets a pool for
// good. Large work of others goes to one compute thread of Tandem's, which has a pool too, or, while that is busy, is
// done alone: the cores have work then.
#pragma once

#include <functional>

#include "thread_state.h"

namespace tandem::capi {

// Threads that one operator may use; at first what LibTorch chose (OMP_NUM_THREADS, else the cores).
int intra_op_threads();
void set_intra_op_threads(int threads);

// Called once, before any other thread calls: reads LibTorch's choice and makes new threads compute alone.
void start_intra_op();

// Gives the pool of a thread that ends to whoever asks next.
void end_intra_op(const ThreadState& ending);

// Whether this thread has its pool already, or none is wanted: what follows may just run.
bool computes_widely(ThreadState& state);

// Runs `work` with several cores where it can, with this thread's modes (grad, autocast …), and rethrows what it
// throws. Returns when it is done. For callers for whom computes_widely() is false.
void run_widely(ThreadState& state, const std::function<void()>& work);

template <typename Work>
void run_large(Work&& work) {
  ThreadState& state = thread_state();
  if (computes_widely(state)) {
    work();
  } else {
    run_widely(state, std::ref(work));
  }
}

}  // namespace tandem::capi
