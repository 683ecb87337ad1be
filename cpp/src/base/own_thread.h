// Threads of Tandem's own.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

#include "base/stack_signal.h"

namespace tandem {

// A thread that gets no signals: those are for the program's own. Its faults stay with it, so that whoever handles them
// (a language's runtime, a debugger) can say where they were; so does one that is asked for its stack. `name`: up to 15 letters.
template <typename Body>
std::thread start_own_thread(const char* name, Body&& body) {
  sigset_t blocked, before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&blocked, fault);
  // A program that blocks it everywhere takes it in a way of its own.
  if (!sigismember(&before, stack_signal())) sigdelset(&blocked, stack_signal());
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  std::thread thread;
  try {
    thread = std::thread(std::forward<Body>(body));
  } catch (...) {  // there are too many
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread.native_handle(), name);
  return thread;
}

}  // namespace tandem
