// One worker process.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/descriptor.h"
#include "launch/signals.h"

namespace tandem::launch {

struct WorkerProcess {
  pid_t pid = -1;
  Descriptor out;  // read ends of its stdout and stderr
  Descriptor err;
  Descriptor exec;  // read end of a pipe: errno if exec failed, end of file if it succeeded
};

struct WorkerStart {
  const std::string& executable;
  const std::vector<std::string>& arguments;
  const std::vector<std::string>& environment;
  bool keeps_stdin;  // else /dev/null
  const std::vector<int>& cpus;  // that it may run on; empty: all
  int inherited = -1;            // a descriptor that it gets, at the same number; -1: none
};

// Starts a worker in a process group of its own, which dies (SIGKILL) when the calling process does. Throws Failure
// when the system has no processes or descriptors left.
WorkerProcess start_worker(const WorkerStart& start, const Signals& signals);

// Waits until the worker's exec has happened. Returns 0 or its errno.
int wait_for_exec(WorkerProcess& worker);

}  // namespace tandem::launch
