// SIGUSR1 as the notice that this process is to leave, for runtimes that keep other signals to themselves.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "tandem/abi/error.hpp"

namespace tandem::abi {

// Calls `notice`, on a thread of its own, when SIGUSR1 comes: the handler does no more than write to an eventfd, for little
// else is allowed there. One at a time. A process that has had the notice is not killed by a second one: the handler stays.
class LeaveSignal {
 public:
  explicit LeaveSignal(std::function<void()> notice) : notice_(std::move(notice)) {
    if (event() < 0) fail("this process can open no more files (eventfd)");
    if (taken().exchange(true)) refuse();
    try {
      begin();
    } catch (...) {
      taken() = false;
      throw;
    }
  }
  ~LeaveSignal() {
    if (!noticed_) sigaction(SIGUSR1, &before_, nullptr);
    end_thread();
    taken() = false;
  }
  LeaveSignal(const LeaveSignal&) = delete;
  LeaveSignal& operator=(const LeaveSignal&) = delete;

 private:
  [[noreturn]] static void refuse() {
    throw Error(TDM_ERROR_UNSUPPORTED, "Elastic::leave_on_signal",
                "this program has a handler of SIGUSR1 already; have what that wakes call leave() instead");
  }
  void begin() {
    if (sigaction(SIGUSR1, nullptr, &before_) != 0) fail("this system lets no program handle SIGUSR1 (sigaction)");
    const auto was = before_.sa_handler;
    if ((before_.sa_flags & SA_SIGINFO) != 0 || (was != SIG_DFL && was != SIG_IGN && was != &handle)) refuse();
    drain();  // what came after the run before this one is no notice of this one's
    thread_ = std::thread([this] { listen(); });
    struct sigaction action = {};
    action.sa_handler = &handle;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    if (sigaction(SIGUSR1, &action, nullptr) == 0) return;
    end_thread();
    fail("this system lets no program handle SIGUSR1 (sigaction)");
  }
  [[noreturn]] static void fail(const char* why) { throw Error(TDM_ERROR_IO, "Elastic::leave_on_signal", why); }
  void end_thread() {
    ends_ = true;
    wake();
    thread_.join();
  }

  static std::atomic<bool>& taken() {
    static std::atomic<bool> is_taken{false};
    return is_taken;
  }
  // Never closed: a handler may still be writing to it.
  static int event() {
    static const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return fd;
  }
  static void handle(int) {
    const int saved = errno;
    wake();
    errno = saved;
  }
  static void wake() {
    const uint64_t one = 1;
    [[maybe_unused]] const auto written = write(event(), &one, sizeof one);
  }
  // Whether something had come.
  static bool drain() {
    uint64_t count = 0;
    return read(event(), &count, sizeof count) > 0;
  }
  void listen() {
    pollfd polled = {event(), POLLIN, 0};
    for (;;) {
      poll(&polled, 1, -1);
      if (ends_) return;
      if (!drain()) continue;
      if (ends_) return;  // it was the destructor's
      noticed_ = true;
      notice_();
    }
  }

  const std::function<void()> notice_;
  struct sigaction before_ = {};
  std::atomic<bool> noticed_{false};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

}  // namespace tandem::abi
