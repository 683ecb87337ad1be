// Which signals the launcher takes, through signalfd, and what its workers get back.
#pragma once

#include <signal.h>

#include <optional>
#include <string>
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

  // "SIGTERM" → 15, of those that a launcher may be told to end by.
  static std::optional<int> number_of(const std::string& name);
  // "SIGINT, SIGTERM, …": what number_of() knows.
  static std::string names();

 private:
  sigset_t original_;
  sigset_t taken_;
};

}  // namespace tandem::launch
