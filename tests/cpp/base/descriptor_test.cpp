// Descriptors and their owners, and calls that signals interrupt.
#include "base/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include "base/host.h"
#include "cpp/data/temp_dir.h"

namespace tandem::descriptor_test {
namespace {

using test::TempDir;

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

bool is_inherited(int fd) {
  return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0;
}

TEST(DescriptorTest, ClosesWithItsLastOwner) {
  Descriptor first = open_file("/dev/null", O_RDONLY);
  ASSERT_TRUE(first.valid());
  const int fd = first.get();
  {
    Descriptor second(std::move(first));
    EXPECT_FALSE(first.valid());
    Descriptor& same = second;
    second = std::move(same);
    EXPECT_EQ(second.get(), fd);
    EXPECT_TRUE(is_open(fd));
  }
  EXPECT_FALSE(is_open(fd));
  Descriptor released = open_file("/dev/null", O_RDONLY);
  const int kept = released.release();
  released.reset();
  EXPECT_TRUE(is_open(kept));
  ::close(kept);
}

TEST(DescriptorTest, NoneIsInheritedByPrograms) {
  const Descriptor file = open_file("/dev/null", O_RDONLY);
  const Descriptor other = duplicate(file.get());
  const std::optional<Pipe> pipe = make_pipe();
  ASSERT_TRUE(file.valid() && other.valid() && pipe);
  for (const int fd : {file.get(), other.get(), pipe->read.get(), pipe->write.get()}) EXPECT_FALSE(is_inherited(fd));
}

TEST(DescriptorTest, WhatCannotBeMadeHasAReason) {
  EXPECT_FALSE(open_file("/nowhere/at/all", O_RDONLY).valid());
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(duplicate(-1).valid());
  EXPECT_EQ(errno, EBADF);
}

// More than a pipe holds, to a reader that is slow, on a thread that gets signals whose handler restarts nothing.
TEST(DescriptorTest, SignalsCutNothingShort) {
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  std::optional<Pipe> pipe = make_pipe();
  ASSERT_TRUE(pipe);
  const std::string sent(1 << 20, 's');
  std::string got(sent.size() + 1, '\0');
  std::size_t read = 0, written = 0;
  int reason = 0;
  std::atomic<int> busy{2};
  std::thread writer([&] {
    written = write_all(pipe->write.get(), sent.data(), sent.size());
    pipe->write.reset();
    --busy;
  });
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    read = read_all(pipe->read.get(), got.data(), got.size());
    reason = errno;
    --busy;
  });
  while (busy > 0) {
    ::pthread_kill(writer.native_handle(), SIGUSR1);
    ::pthread_kill(reader.native_handle(), SIGUSR1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  writer.join();
  reader.join();
  ::sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(written, sent.size());
  EXPECT_EQ(read, sent.size());
  EXPECT_EQ(reason, ENODATA);  // one more was asked for
  EXPECT_EQ(got.substr(0, sent.size()), sent);
}

TEST(DescriptorTest, PlacesOfAFile) {
  const TempDir dir;
  const Descriptor file = open_file((dir / "f").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_TRUE(file.valid());
  EXPECT_EQ(write_all_at(file.get(), "world", 5, 6), 5u);
  EXPECT_EQ(write_all_at(file.get(), "hello ", 6, 0), 6u);
  char text[12] = {};
  EXPECT_EQ(read_all_at(file.get(), text, 11, 0), 11u);
  EXPECT_STREQ(text, "hello world");
  EXPECT_EQ(read_all_at(file.get(), text, 11, 6), 5u);
  EXPECT_EQ(errno, ENODATA);
  const Descriptor only_read = open_file((dir / "f").c_str(), O_RDONLY);
  EXPECT_EQ(write_all(only_read.get(), "x", 1), 0u);
  EXPECT_EQ(errno, EBADF);
}

// A disk that is full takes a part.
TEST(DescriptorTest, SaysHowMuchWasWritten) {
  struct sigaction ignored {
  }, before{};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &ignored, &before);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{1000, limit.rlim_max};
  const TempDir dir;
  const Descriptor file = open_file((dir / "f").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string bytes(1500, 'b');
  const std::size_t written = write_all(file.get(), bytes.data(), bytes.size());
  const int reason = errno;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ::sigaction(SIGXFSZ, &before, nullptr);
  EXPECT_EQ(written, 1000u);
  EXPECT_EQ(reason, EFBIG);
}

TEST(HostTest, IsTheSameEachTime) {
  char name[256] = {};
  ASSERT_EQ(::gethostname(name, sizeof name - 1), 0);
  EXPECT_EQ(host_name(), *name ? name : "localhost");
  EXPECT_EQ(boot_id(), boot_id());
  EXPECT_EQ(host_identity().rfind(boot_id() + "/net:[", 0), 0u) << host_identity();
}

}  // namespace
}  // namespace tandem::descriptor_test
