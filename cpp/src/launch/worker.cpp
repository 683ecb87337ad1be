#include "launch/worker.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "launch/child_process.h"
#include "launch/failure.h"

namespace tandem::launch {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const std::string& string : strings) result.push_back(const_cast<char*>(string.c_str()));
  result.push_back(nullptr);
  return result;
}

[[noreturn]] void become_worker(const WorkerStart& start, const Signals& signals, pid_t parent, int out, int err,
                                int exec) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent died before the line above
  if (!start.keeps_stdin) {
    dup2(open_file("/dev/null", O_RDONLY).release(), STDIN_FILENO);
  }
  if (!start.cpus.empty()) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : start.cpus) CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {  // they were taken from this process since it looked
      const int reason = errno;
      _exit(write(exec, &reason, sizeof reason) < 0 ? 126 : 127);
    }
  }
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  if (start.inherited >= 0) fcntl(start.inherited, F_SETFD, 0);
  signals.restore();
  execve(start.executable.c_str(), pointers(start.arguments).data(), pointers(start.environment).data());
  const int reason = errno;
  if (write(exec, &reason, sizeof reason) < 0) _exit(126);
  _exit(127);
}

}  // namespace

WorkerProcess start_worker(const WorkerStart& start, const Signals& signals) {
  Pipe out = new_pipe();
  Pipe err = new_pipe();
  Pipe exec = new_pipe();
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw Failure(std::string("cannot start a worker: fork: ") + std::strerror(errno));
  if (pid == 0) become_worker(start, signals, parent, out.write.get(), err.write.get(), exec.write.get());
  setpgid(pid, pid);  // whoever comes first; a signal to the group must not miss it
  return {pid, std::move(out.read), std::move(err.read), std::move(exec.read)};
}

int wait_for_exec(WorkerProcess& worker) {
  int reason = 0;
  const bool failed = read_all(worker.exec.get(), &reason, sizeof reason) == sizeof reason;
  worker.exec.reset();
  return failed ? reason : 0;
}

}  // namespace tandem::launch
