// LibTorch's compiler, and what reads types, call themselves as deep as what they read nests. Threads of Java have 1 MB
// of stack; source_depth.h keeps to what this has.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cstring>
#include <exception>
#include <functional>
#include <string>

#include "tandem/error.h"

namespace tandem::jit {

// Runs `work` on a thread that has 512 MiB of stack, of which it takes what it uses, and rethrows what it throws.
inline void run_on_deep_stack(const std::function<void()>& work) {
  struct Run {
    const std::function<void()>& work;
    std::exception_ptr failure;
  } run{work, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::size_t{512} << 20);
  // Signals are for the program's own threads, but for faults.
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&blocked, fault);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  pthread_t thread;
  const int failed = pthread_create(
      &thread, &attributes,
      [](void* argument) -> void* {
        auto& own = *static_cast<Run*>(argument);
        try {
          own.work();
        } catch (...) {
          own.failure = std::current_exception();
        }
        return nullptr;
      },
      &run);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (failed != 0) {
    throw Error(ErrorCode::kOutOfMemory,
                std::string("no thread could be started that compiles TorchScript: ") + std::strerror(failed));
  }
  pthread_join(thread, nullptr);
  if (run.failure) std::rethrow_exception(run.failure);
}

}  // namespace tandem::jit
