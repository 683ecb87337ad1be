#include <csignal>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "comm/sockets.h"

namespace tandem::net {
namespace {

// Writes to a socket whose peer is gone.
int error_of_write() {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  close(ends[1]);
  const int error = write(ends[0], "x", 1) < 0 ? errno : 0;
  close(ends[0]);
  return error;
}

bool is_pending() {
  sigset_t set;
  sigpending(&set);
  return sigismember(&set, SIGPIPE) == 1;
}

bool is_blocked() {
  sigset_t set;
  pthread_sigmask(SIG_BLOCK, nullptr, &set);
  return sigismember(&set, SIGPIPE) == 1;
}

TEST(SigpipeBlocked, TurnsTheSignalIntoAnError) {
  {
    const SigpipeBlocked blocked;
    EXPECT_FALSE(blocked.was_raised());
    EXPECT_EQ(error_of_write(), EPIPE);
    EXPECT_TRUE(blocked.was_raised());
  }
  EXPECT_FALSE(is_pending());
  EXPECT_FALSE(is_blocked());
}

TEST(SigpipeBlocked, LeavesWhatTheProgramBlocked) {
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  EXPECT_EQ(error_of_write(), EPIPE);
  {
    const SigpipeBlocked blocked;
    EXPECT_FALSE(blocked.was_raised());
  }
  EXPECT_TRUE(is_pending());
  EXPECT_TRUE(is_blocked());
  int signal = 0;
  EXPECT_EQ(sigwait(&pipe, &signal), 0);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(SigpipeBlockedDeathTest, IsNeeded) {
  std::signal(SIGPIPE, SIG_DFL);
  EXPECT_EXIT(error_of_write(), testing::KilledBySignal(SIGPIPE), "");
}

}  // namespace
}  // namespace tandem::net
