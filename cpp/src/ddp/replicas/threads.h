// The threads of replicas.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tandem/runtime.h"

namespace tandem::internal {

// One a replica, from construction to destruction. Thread-safe: callers take turns.
class ReplicaThreads {
 public:
  // `intra_op`: threads that OpenMP gives to an operator of one of them. `devices`: what replicas compute on.
  ReplicaThreads(const std::vector<at::Device>& devices, int intra_op);
  ~ReplicaThreads();
  ReplicaThreads(const ReplicaThreads&) = delete;
  ReplicaThreads& operator=(const ReplicaThreads&) = delete;

  // Runs work(0) to work(count - 1), each on its own thread with the caller's modes; returns when all are done.
  // Rethrows what the lowest of those that failed threw. Throws Error (kClosed) after shutdown(),
  // kInvalidArgument on one of these threads.
  void run(int count, const std::function<void(int)>& work);

 private:
  void serve(int number, int intra_op);
  void stop();

  const std::vector<at::Device> devices_;
  std::mutex turn_;  // of callers
  std::mutex mutex_;
  std::condition_variable started_, done_;
  std::uint64_t round_ = 0;  // of work
  int count_ = 0;            // of threads that take part in it
  int left_ = 0;             // of those that are not done
  const std::function<void(int)>* work_ = nullptr;
  std::vector<std::exception_ptr> failures_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
  std::unique_ptr<ShutdownHook> hook_;
};

}  // namespace tandem::internal
