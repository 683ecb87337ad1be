#include <ATen/core/Tensor.h>

#include <algorithm>
#include <string>

#include "base/own_thread.h"
#include "ddp/replicas/caller_state.h"
#include "ddp/replicas/threads.h"
#include "openmp.h"
#include "tandem/error.h"
#include "thread_state.h"

namespace tandem::internal {
namespace {

thread_local const ReplicaThreads* served = nullptr;  // by this thread

}  // namespace

ReplicaThreads::ReplicaThreads(const std::vector<at::Device>& devices, int intra_op)
    : devices_(devices), failures_(devices.size()) {
  try {
    for (int i = 0; i < static_cast<int>(devices.size()); ++i) {
      threads_.push_back(start_own_thread(("replica-" + std::to_string(i)).substr(0, 15).c_str(),
                                          [this, i, intra_op] { serve(i, intra_op); }));
    }
    hook_ = std::make_unique<ShutdownHook>("DataParallel's threads", [this] { stop(); });
  } catch (...) {
    stop();
    throw;
  }
}

ReplicaThreads::~ReplicaThreads() {
  hook_.reset();
  stop();
}

void ReplicaThreads::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    started_.notify_all();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void ReplicaThreads::serve(int number, int intra_op) {
  served = this;
  ThreadState& state = thread_state();
  set_openmp_threads(intra_op);
  set_mkl_threads(intra_op);
  state.intra_op_threads = intra_op;
  state.threads_are_fixed = true;
  std::uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    started_.wait(lock, [&] { return stopping_ || round_ != seen; });
    if (round_ == seen) return;
    seen = round_;
    if (number >= count_) continue;
    lock.unlock();
    std::exception_ptr failure;
    try {
      (*work_)(number);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failures_[static_cast<std::size_t>(number)] = failure;
    if (--left_ == 0) done_.notify_one();
  }
}

void ReplicaThreads::run(int count, const std::function<void(int)>& work) {
  if (served == this) {
    throw Error(ErrorCode::kInvalidArgument,
                "a replica called the DataParallel that it belongs to, which waits for it; in forward, call the module "
                "that it is given");
  }
  const CallerState state(devices_);
  const std::function<void(int)> in_state = [&](int number) {
    const CallerState::Guard guard(state);
    work(number);
  };
  const std::lock_guard<std::mutex> turn(turn_);
  std::unique_lock<std::mutex> lock(mutex_);
  if (stopping_) throw Error(ErrorCode::kClosed, "DataParallel's threads have ended, as Tandem was shut down");
  work_ = &in_state;
  count_ = left_ = count;
  ++round_;
  started_.notify_all();
  done_.wait(lock, [this] { return left_ == 0; });
  work_ = nullptr;
  std::exception_ptr first;
  for (std::exception_ptr& failure : failures_) {
    if (!first) first = failure;
    failure = nullptr;
  }
  lock.unlock();
  if (first) std::rethrow_exception(first);
}

}  // namespace tandem::internal
