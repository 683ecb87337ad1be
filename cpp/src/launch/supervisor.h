// Starts the workers, carries their output, and ends them.
#pragma once

#include "base/descriptor.h"
#include "launch/options.h"
#include "launch/port.h"
#include "launch/signals.h"

namespace tandem::launch {

// Runs one launch in this process, which must be single-threaded and a subreaper, and returns its exit code: the
// worker's that failed first, 128 + N after signal N, 0 when all succeeded. After a worker's failure all start again as
// often as asked.max_restarts says. When it returns, no descendant is left. In `run_folder` each attempt gets a
// folder, with one a local rank. `lifeline` becomes readable when the launcher's front process is gone: everything is
// then killed at once. Throws Failure when a program cannot be started.
int supervise(const LaunchOptions& asked, const Signals& signals, const PortReservation* port,
              const std::string& run_folder, Descriptor lifeline);

}  // namespace tandem::launch
