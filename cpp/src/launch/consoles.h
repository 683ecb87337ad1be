// The launcher's stdout and stderr, which may be one.
#pragma once

#include <unistd.h>

#include <string>

#include "launch/console.h"

namespace tandem::launch {

struct Consoles {
  Consoles();
  Console& err() { return one ? out : own_err; }
  // Lines of the launcher's own.
  void say(const std::string& message);
  // As far as the reader takes it within a few seconds.
  void flush();

  Console out{STDOUT_FILENO, isatty(STDOUT_FILENO) != 0};
  Console own_err{STDERR_FILENO, isatty(STDERR_FILENO) != 0};
  bool one;
};

}  // namespace tandem::launch
