// Runs a program and gives what it said and how it ended.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>

struct Ended {
  int exit_code = -1;
  int signal = 0;
  std::string output;
};

// A line for the shell; with its standard output only.
inline Ended run_program(const std::string& line) {
  Ended ended;
  FILE* pipe = popen(("exec timeout -s KILL 60 " + line).c_str(), "r");
  if (!pipe) return ended;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) ended.output.append(buffer, n);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  // timeout(1) reports a signal of the program as 128 + its number.
  if (ended.exit_code > 128) ended.signal = ended.exit_code - 128;
  return ended;
}
