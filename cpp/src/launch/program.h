// Finds the program to run before anything is started.
#pragma once

#include <string>
#include <vector>

namespace tandem::launch {

struct Program {
  std::string executable;              // what is handed to execve
  std::vector<std::string> arguments;  // from argv[0] on
};

enum class ProgramKind { kAuto, kExecutable, kPythonModule };

// `command` is the program and its arguments. A name without a slash is searched for in PATH. With kAuto a name that
// ends in .py is run as `python -u name`; kPythonModule runs `python -u -m name`.
// Throws Failure with exit code 127 (not found) or 126 (found, cannot be executed), as shells have it.
Program find_program(const std::vector<std::string>& command, ProgramKind kind, const std::string& python);

}  // namespace tandem::launch
