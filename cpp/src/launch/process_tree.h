// The processes below one process, whatever groups and sessions they moved to.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace tandem::launch {

// All living descendants of `root`, from /proc.
std::vector<pid_t> descendants(pid_t root);

// Sends `signal` to all descendants of the calling process.
void signal_descendants(int signal);

// Kills and reaps all descendants of the calling process, which must be a subreaper: orphans then come to it. Returns
// false when something is still there after `patience` (a process that hangs inside the kernel).
bool kill_descendants(std::chrono::milliseconds patience);

// "SIGKILL", or "signal 35" for one without a name.
std::string signal_name(int signal);

}  // namespace tandem::launch
