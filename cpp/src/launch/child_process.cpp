#include "launch/child_process.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "launch/failure.h"

namespace tandem::launch {

Pipe new_pipe() {
  std::optional<Pipe> pipe = make_pipe();
  if (!pipe) throw Failure(std::string("cannot make a pipe: ") + std::strerror(errno));
  return std::move(*pipe);
}

void become(const std::vector<std::string>& command, const Signals& signals, int in, int out, int err, int code) {
  setpgid(0, 0);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  signals.restore();
  execvp(argv.front(), argv.data());
  std::fprintf(stderr, "cannot run %s: %s\n", argv.front(), std::strerror(errno));
  _exit(code);
}

}  // namespace tandem::launch
