// What the threads of another process do.
#pragma once

#include <sys/types.h>

#include <string>

namespace tandem::launch {

struct ThreadStacks {
  std::string text;         // all of it
  std::string short_text;   // at most kShownLines lines
  bool prints_own = false;  // its runtime (Go's, the JVM) prints the stacks of what it runs when it gets SIGQUIT
};

inline constexpr int kShownLines = 60;

// Asks each thread for its stack, as membership/stack_answer.h has it, and gives them up to two seconds; `answers` is
// the file that the process was given. Threads with the same stack come as one, with their number. Those that give none
// are shown as /proc has them. May block for as long as the kernel lets reading /proc do so.
ThreadStacks read_thread_stacks(pid_t pid, const std::string& answers);

}  // namespace tandem::launch
