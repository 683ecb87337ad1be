#include "launch/relay.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "launch/failure.h"
#include "launch/process_tree.h"

namespace tandem::launch {

void pass_on(int signal, pid_t launcher) {
  if (signal == SIGCHLD) return;
  kill(launcher, signal);
  if (signal == SIGTSTP) kill(getpid(), SIGSTOP);
}

std::optional<int> leave_children_behind(const Signals& signals) {
  const pid_t self = getpid();
  const pid_t launcher = fork();
  if (launcher < 0) throw Failure(std::string("cannot fork: ") + std::strerror(errno));
  if (launcher == 0) {
    setpgid(0, 0);  // the terminal's Ctrl-C comes once, through the process that was started
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(1);  // it died before the line above
    return std::nullopt;
  }
  setpgid(launcher, launcher);
  const Descriptor signal_fd = signals.open();
  for (;;) {
    int status = 0;
    if (waitpid(launcher, &status, WNOHANG) == launcher) {
      if (WIFEXITED(status)) return WEXITSTATUS(status);
      std::fprintf(stderr, "tandem: the launcher was killed by %s; its workers end with it\n",
                   signal_name(WTERMSIG(status)).c_str());
      return 128 + WTERMSIG(status);
    }
    pollfd ready{signal_fd.get(), POLLIN, 0};
    poll(&ready, 1, -1);
    for (const int signal : Signals::read(signal_fd.get())) pass_on(signal, launcher);
  }
}

}  // namespace tandem::launch
