#include "capi/misuse/apart.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace misuse {
namespace {

constexpr const char* kOutput = "output";  // in the test's own folder

std::string text_of(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int failures() {
  return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
}

[[noreturn]] void run_here(const std::function<void()>& body, unsigned seconds) {
  if (!freopen(kOutput, "w", stderr) || !freopen("/dev/null", "w", stdout)) _exit(2);
  // What computes without end is told by its own time, which other processes do not take; what waits, by the clock.
  const rlimit computing{seconds, seconds + 5};
  setrlimit(RLIMIT_CPU, &computing);
  alarm(5 * seconds);
  // A sanitizer maps more than this for itself, and has an option for it.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit memory{std::size_t{8} << 30, std::size_t{8} << 30};
  setrlimit(RLIMIT_AS, &memory);
#endif
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int before = failures();
  body();
  std::fflush(nullptr);
  _exit(failures() == before ? 0 : 1);
}

}  // namespace

End run_apart(const std::function<void()>& body, unsigned seconds) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) run_here(body, seconds);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) throw std::runtime_error("cannot start a process");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {"", text_of(kOutput)};
  const std::string how = WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                              : "exit status " + std::to_string(WEXITSTATUS(status));
  return {how, text_of(kOutput)};
}

void* shared_memory(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("cannot share memory");
  return memory;
}

}  // namespace misuse
