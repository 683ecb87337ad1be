#include "base/passed_descriptor.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace tandem {
namespace {

// Room for one, where its parts are aligned.
struct Passed {
  Passed(const void* data, std::size_t size) : bytes{const_cast<void*>(data), size} {
    header.msg_iov = &bytes;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = CMSG_LEN(sizeof(int));
  }

  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec bytes;
  msghdr header{};
};

}  // namespace

bool send_descriptor(int socket, const void* data, std::size_t size, int descriptor, int flags) {
  Passed passed(data, size);
  cmsghdr* rights = CMSG_FIRSTHDR(&passed.header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &passed.header, flags | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(size);
}

ssize_t receive_descriptor(int socket, void* data, std::size_t size, Descriptor* descriptor, int flags) {
  Passed passed(data, size);
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &passed.header, flags | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  descriptor->reset();
  const cmsghdr* rights = got >= 0 ? CMSG_FIRSTHDR(&passed.header) : nullptr;
  if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS) {
    int received = -1;
    std::memcpy(&received, CMSG_DATA(rights), sizeof received);
    descriptor->reset(received);
  }
  return got;
}

}  // namespace tandem
