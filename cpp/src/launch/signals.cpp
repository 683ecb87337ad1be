#include "launch/signals.h"

#include <sys/signalfd.h>

#include "launch/process_tree.h"

namespace tandem::launch {
namespace {

// That may end a launch. The others that a launcher takes stop and continue it.
constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

}  // namespace

Signals::Signals() {
  // An inherited SIG_IGN of SIGCHLD would reap children behind waitpid's back. A script's background job has SIGINT and
  // SIGQUIT ignored; whoever sends them to a launcher all the same means it.
  for (const int number : {SIGCHLD, SIGINT, SIGQUIT}) signal(number, SIG_DFL);
  sigemptyset(&taken_);
  sigaddset(&taken_, SIGCHLD);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT}) {
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&taken_, number);
  }
  // Blocked as well: a closed pipe is an error of write, and a background process may write to the terminal.
  sigset_t blocked = taken_;
  sigaddset(&blocked, SIGPIPE);
  sigaddset(&blocked, SIGTTOU);
  sigprocmask(SIG_BLOCK, &blocked, &original_);
}

Descriptor Signals::open() const {
  return Descriptor(signalfd(-1, &taken_, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::vector<int> Signals::read(int fd) {
  std::vector<int> found;
  signalfd_siginfo info{};
  while (::read(fd, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    found.push_back(static_cast<int>(info.ssi_signo));
  }
  return found;
}

void Signals::restore() const {
  sigprocmask(SIG_SETMASK, &original_, nullptr);
}

std::optional<int> Signals::number_of(const std::string& name) {
  for (const int signal : kEnding) {
    if (name == signal_name(signal)) return signal;
  }
  return std::nullopt;
}

std::string Signals::names() {
  std::string list;
  for (const int signal : kEnding) list += (list.empty() ? "" : ", ") + signal_name(signal);
  return list;
}

}  // namespace tandem::launch
