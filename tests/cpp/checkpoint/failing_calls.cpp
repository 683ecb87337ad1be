#include "cpp/checkpoint/failing_calls.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

namespace {

struct Plan {
  bool on = false;
  int calls = 0;
  int at = -1;
  int error = 0;
};
thread_local Plan plan;
thread_local bool can_exchange = true;

// Whether this call is to fail; errno says why.
bool fails() {
  if (!plan.on || plan.calls++ != plan.at) return false;
  if (plan.error == 0) syscall(SYS_kill, getpid(), SIGKILL);
  errno = plan.error;
  return true;
}

}  // namespace

namespace tandem::testing {

int with_failing_call(int at, int error, const std::function<void()>& body) {
  plan = {true, 0, at, error};
  try {
    body();
  } catch (...) {
    plan.on = false;
    throw;
  }
  plan.on = false;
  return plan.calls;
}

void let_exchange(bool can) {
  can_exchange = can;
}

}  // namespace tandem::testing

// In place of libc's, for the libraries of this process, too.
#pragma GCC visibility push(default)
extern "C" {

ssize_t write(int fd, const void* data, size_t size) {
  return fails() ? -1 : syscall(SYS_write, fd, data, size);
}

ssize_t pread(int fd, void* data, size_t size, off_t at) {
  return fails() ? -1 : syscall(SYS_pread64, fd, data, size, at);
}

ssize_t pread64(int fd, void* data, size_t size, off64_t at) {
  return pread(fd, data, size, at);
}

int fsync(int fd) {
  return fails() ? -1 : static_cast<int>(syscall(SYS_fsync, fd));
}

int rename(const char* from, const char* to) noexcept {
  return fails() ? -1 : static_cast<int>(syscall(SYS_rename, from, to));
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  if (!can_exchange) {
    errno = EINVAL;
    return -1;
  }
  return fails() ? -1 : static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

int mkdir(const char* path, mode_t mode) noexcept {
  return fails() ? -1 : static_cast<int>(syscall(SYS_mkdir, path, mode));
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  return fails() ? -1 : static_cast<int>(syscall(SYS_unlinkat, folder, path, flags));
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return fails() ? -1 : static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open(path, flags, mode);
}

}  // extern "C"
#pragma GCC visibility pop
