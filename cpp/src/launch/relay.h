// Launches from a process that has children of its own.
#pragma once

#include <sys/types.h>

#include <optional>

#include "launch/signals.h"

namespace tandem::launch {

// Passes a signal on to `launcher`, and stops this process as well when it is to be stopped.
void pass_on(int signal, pid_t launcher);

// A program may have started processes before it became `tandem run` (`some-server & exec tandem run …`, a log through
// `exec > >(tee log)`). They are no workers, and nothing tells their orphans from those of workers. So this forks: in
// the new process, which has no children, it returns nothing, and the caller launches there. In the calling process it
// passes signals on until the new one ends, and returns the exit code; when the calling process is killed, so is the
// new one. Throws Failure when there is no process left to fork.
std::optional<int> leave_children_behind(const Signals& signals);

}  // namespace tandem::launch
