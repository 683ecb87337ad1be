// SIGUSR1 as the notice that this process is to leave, for runtimes that keep other signals to themselves.
#pragma once

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <thread>
#include <utility>

#include "tandem/abi/error.hpp"

namespace tandem::abi {

// Calls `notice`, on a thread of its own, when SIGUSR1 comes: the handler does no more than write to an eventfd, for little else
// is allowed there. One at a time.
class LeaveSignal {
 public:
  explicit LeaveSignal(std::function<void()> notice) : notice_(std::move(notice)) {
    sigaction(SIGUSR1, nullptr, &before_);
    if ((before_.sa_flags & SA_SIGINFO) != 0 || (before_.sa_handler != SIG_DFL && before_.sa_handler != SIG_IGN)) {
      throw Error(TDM_ERROR_UNSUPPORTED, "Elastic::leave_on_signal",
                  "this program has a handler of SIGUSR1 already; have what that wakes call leave() instead");
    }
    if (event() < 0) throw Error(TDM_ERROR_IO, "Elastic::leave_on_signal", "this process can open no more files (eventfd)");
    struct sigaction action = {};
    action.sa_handler = [](int) {
      const int saved = errno;
      wake();
      errno = saved;
    };
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, nullptr);
    thread_ = std::thread([this] { listen(); });
  }
  ~LeaveSignal() {
    sigaction(SIGUSR1, &before_, nullptr);
    ends_ = true;
    wake();
    thread_.join();
  }
  LeaveSignal(const LeaveSignal&) = delete;
  LeaveSignal& operator=(const LeaveSignal&) = delete;

 private:
  // Never closed: a handler may still be writing to it.
  static int event() {
    static const int fd = eventfd(0, EFD_CLOEXEC);
    return fd;
  }
  static void wake() {
    const uint64_t one = 1;
    [[maybe_unused]] const auto written = write(event(), &one, sizeof one);
  }
  void listen() {
    for (;;) {
      uint64_t count = 0;
      const ssize_t got = read(event(), &count, sizeof count);
      if (ends_ || (got < 0 && errno != EINTR)) return;
      if (got > 0) notice_();
    }
  }

  const std::function<void()> notice_;
  struct sigaction before_ = {};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

}  // namespace tandem::abi
