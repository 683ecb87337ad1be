#include "membership/stack_answer.h"

#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "base/stack_signal.h"

namespace tandem::membership {
namespace {

// The handler may run on a small stack of a runtime's: 32 KiB, of which the kernel takes some for the registers.
constexpr int kMostFrames = 96;
constexpr std::size_t kAddressBytes = 2 * sizeof(void*) + 1;

char stacks_path[PATH_MAX];

// Where the thread was when the signal came; 0: unknown on this machine.
std::uintptr_t interrupted_at(const void* context) {
  [[maybe_unused]] const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(machine.pc);
#else
  return 0;
#endif
}

char* put(char* to, std::uint64_t number, unsigned base) {
  char digits[24];
  int count = 0;
  do digits[count++] = "0123456789abcdef"[number % base];
  while (number /= base);
  while (count > 0) *to++ = digits[--count];
  return to;
}

// Calls nothing that takes a lock or memory: what the thread was doing may hold them.
void write_stack(int, siginfo_t*, void* context) {
  const int before = errno;
  void* frames[kMostFrames];
  const int count = backtrace(frames, kMostFrames);
  const std::uintptr_t here = interrupted_at(context);
  int first = 0;  // of the frames that are not this handler's own
  while (first < count && reinterpret_cast<std::uintptr_t>(frames[first]) != here) ++first;
  char line[32 + (kMostFrames + 1) * kAddressBytes];
  char* end = put(line, static_cast<std::uint64_t>(syscall(SYS_gettid)), 10);
  if (first == count) {  // the unwinder did not come so far
    *end++ = ' ';
    end = put(end, here, 16);
  }
  for (int i = first; i < count; ++i) {
    *end++ = ' ';
    end = put(end, reinterpret_cast<std::uintptr_t>(frames[i]), 16);
  }
  *end++ = '\n';
  // One write to its end: lines of threads that write at a time stay whole.
  const int file = open(stacks_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) {
    [[maybe_unused]] const ssize_t written = write(file, line, static_cast<std::size_t>(end - line));
    close(file);
  }
  errno = before;
}

bool is_free(int signal) {
  struct sigaction now {}, next {};
  sigset_t blocked;
  if (pthread_sigmask(SIG_SETMASK, nullptr, &blocked) != 0 || sigismember(&blocked, signal)) return false;
  if (sigaction(signal, nullptr, &now) != 0) return false;
  if (now.sa_handler == SIG_DFL) return true;
  // A runtime that handles all signals alike has no use for this one.
  return now.sa_handler != SIG_IGN && sigaction(signal + 1, nullptr, &next) == 0 && next.sa_handler == now.sa_handler;
}

}  // namespace

void answer_stack_signal() {
  const char* path = std::getenv(kStacksVariable);
  if (!path || !*path || std::strlen(path) >= sizeof stacks_path || *stacks_path) return;
  if (!is_free(stack_signal())) return;
  std::strcpy(stacks_path, path);
  void* frame = nullptr;
  backtrace(&frame, 1);  // its first call loads the unwinder, which takes memory
  struct sigaction action {};
  action.sa_sigaction = write_stack;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigfillset(&action.sa_mask);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&action.sa_mask, fault);
  sigaction(stack_signal(), &action, nullptr);
}

}  // namespace tandem::membership
