// A program that is started with pipes for its input and output.
#pragma once

#include <string>
#include <vector>

#include "base/descriptor.h"
#include "launch/signals.h"

namespace tandem::launch {

// Throws Failure where the system has none left.
Pipe new_pipe();

// In a new process: becomes `command`, whose first word is found in PATH, in a process group of its own, so that a
// terminal's Ctrl-C reaches it by its parent alone. Where it cannot, a line on `err` says why, and it ends with `code`.
[[noreturn]] void become(const std::vector<std::string>& command, const Signals& signals, int in, int out, int err,
                         int code);

}  // namespace tandem::launch
