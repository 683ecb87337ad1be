// Threads of a group.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace tandem::shm {

// A thread that gets no signals: those are for the program's own. `name`: up to 15 letters.
template <typename Body>
std::thread start_own_thread(const char* name, Body&& body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
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

}  // namespace tandem::shm
