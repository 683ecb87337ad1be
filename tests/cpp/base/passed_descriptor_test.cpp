#include "base/passed_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace tandem {
namespace {

struct Sockets {
  Sockets() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    here.reset(ends[0]);
    there.reset(ends[1]);
  }
  Descriptor here, there;
};

TEST(PassedDescriptor, IsTheSameFileUnderANumberOfItsOwn) {
  Sockets sockets;
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe);
  ASSERT_TRUE(send_descriptor(sockets.here.get(), "hello", 5, pipe->write.get()));
  char text[8] = "";
  Descriptor received;
  ASSERT_EQ(receive_descriptor(sockets.there.get(), text, sizeof text, &received), 5);
  EXPECT_STREQ(text, "hello");
  ASSERT_TRUE(received.valid());
  EXPECT_NE(received.get(), pipe->write.get());
  EXPECT_TRUE(fcntl(received.get(), F_GETFD) & FD_CLOEXEC);
  pipe->write.reset();
  ASSERT_EQ(write_all(received.get(), "x", 1), 1u);
  char byte = 0;
  EXPECT_EQ(read_all(pipe->read.get(), &byte, 1), 1u);
  EXPECT_EQ(byte, 'x');
}

TEST(PassedDescriptor, ThereMayBeNone) {
  Sockets sockets;
  ASSERT_EQ(send(sockets.here.get(), "hello", 5, 0), 5);
  char text[8] = "";
  Descriptor received = open_file("/dev/null", O_RDONLY);
  ASSERT_EQ(receive_descriptor(sockets.there.get(), text, sizeof text, &received), 5);
  EXPECT_FALSE(received.valid());
  EXPECT_EQ(receive_descriptor(sockets.there.get(), text, sizeof text, &received, MSG_DONTWAIT), -1);
  EXPECT_EQ(errno, EAGAIN);
}

// Else who sends many could take all of a process's.
TEST(PassedDescriptor, MoreThanOneAreClosed) {
  Sockets sockets;
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe);
  const int two[] = {pipe->write.get(), pipe->write.get()};
  char byte = 'x';
  iovec bytes{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof two)] = {};
  msghdr header{};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof two);
  std::memcpy(CMSG_DATA(rights), two, sizeof two);
  ASSERT_EQ(sendmsg(sockets.here.get(), &header, 0), 1);
  {
    Descriptor received;
    ASSERT_EQ(receive_descriptor(sockets.there.get(), &byte, 1, &received), 1);
    EXPECT_TRUE(received.valid());
  }
  pipe->write.reset();
  EXPECT_EQ(read(pipe->read.get(), &byte, 1), 0) << "somebody has the other end still";
}

}  // namespace
}  // namespace tandem
