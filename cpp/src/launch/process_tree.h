// The processes below one process, whatever groups and sessions they moved to.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tandem::launch {

// One process, told apart from a later one that is given the same number.
struct Process {
  pid_t pid = -1;
  pid_t parent = -1;
  std::uint64_t started = 0;  // clock ticks since boot
};

// From /proc; nothing when no process of that number lives. One whose main thread has ended lives for as long as its
// other threads do, though /proc calls it a zombie.
std::optional<Process> read_process(pid_t pid);

// All living descendants of `root`, parents before their children.
std::vector<Process> descendants(pid_t root);

// Whether this system has pidfds (Linux 5.3, where nothing forbids them): without, signals go to numbers.
bool has_pidfds();

// Sends `signal` to that process and to no other: false when it is gone, whoever has its number now. Without pidfds
// there is a moment between looking at the process and sending.
bool send_signal(const Process& process, int signal);

// Sends `signal` to all descendants of the calling process but those to skip.
void signal_descendants(int signal, const std::function<bool(const Process&)>& skip = nullptr);

// Kills and reaps all descendants of the calling process, which must be a subreaper: orphans then come to it. Returns
// false when something is still there after `patience` (a process that hangs inside the kernel).
bool kill_descendants(std::chrono::milliseconds patience);

// Whether the calling process has children, ended ones that nobody waited for included.
bool has_children();

// "SIGKILL", or "signal 35" for one without a name.
std::string signal_name(int signal);

}  // namespace tandem::launch
