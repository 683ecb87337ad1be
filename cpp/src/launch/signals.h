// Which signals the launcher takes, through signalfd, and what its workers get back.
#pragma once

#include <signal.h>

#include <vector>

#include "base/descriptor.h"

namespace tandem::launch {

// Blocks the launcher's signals in this thread for as long as the process lives; a worker restores the original mask.
// A signal that was ignored when the launcher started (SIGHUP under nohup) stays ignored, by it and by its workers, but
// not SIGINT and SIGQUIT.
class Signals {
 public:
  Signals();
  // Readable when a taken signal or SIGCHLD is pending. Each process needs its own, made after fork.
  Descriptor open() const;
  // The pending signals, each once.
  static std::vector<int> read(int fd);
  // In a new worker, before exec.
  void restore() const;

 private:
  sigset_t original_;
  sigset_t taken_;
};

// SIGINT, SIGTERM, SIGHUP or SIGQUIT: those that end a launch.
bool ends_launch(int signal);

}  // namespace tandem::launch
