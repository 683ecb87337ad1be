#include "membership/socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "membership/message.h"
#include "tandem/error.h"

namespace tandem::membership {
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  throw Error(ErrorCode::kIo, what + " " + path + ": " + std::strerror(errno));
}

// An address has 107 letters, so that the folder is reached by its descriptor.
struct Address {
  explicit Address(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    folder = open_file(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY);
    if (!folder.valid()) fail("cannot open the folder of", path);
    const std::string name = "/proc/self/fd/" + std::to_string(folder.get()) + path.substr(slash);
    address.sun_family = AF_UNIX;
    if (name.size() >= sizeof address.sun_path) {
      errno = ENAMETOOLONG;
      fail("cannot use", path);
    }
    std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

  Descriptor folder;
  sockaddr_un address{};
};

Descriptor new_socket(const std::string& path) {
  Descriptor made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!made.valid()) fail("cannot make a socket for", path);
  return made;
}

void stop_blocking(const Descriptor& socket) {
  fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
}

}  // namespace

Descriptor listen_at(const std::string& path) {
  const Address address(path);
  Descriptor made = new_socket(path);
  if (bind(made.get(), address.get(), sizeof address.address) != 0) fail("cannot make the socket", path);
  if (listen(made.get(), SOMAXCONN) != 0) fail("cannot listen at", path);
  stop_blocking(made);
  return made;
}

Descriptor connect_to(const std::string& path) {
  const Address address(path);
  Descriptor made = new_socket(path);
  while (connect(made.get(), address.get(), sizeof address.address) != 0) {
    if (errno != EINTR) fail("cannot connect to", path);
  }
  stop_blocking(made);
  return made;
}

std::optional<Descriptor> accept_own(const Descriptor& listener) {
  Descriptor made(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!made.valid()) return std::nullopt;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(made.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  if (peer.uid != geteuid() && peer.uid != 0) return std::nullopt;
  return made;
}

Received receive(const Descriptor& socket, std::string* message) {
  message->resize(kMostMessageBytes);
  iovec place{message->data(), message->size()};
  msghdr header{};
  header.msg_iov = &place;
  header.msg_iovlen = 1;
  ssize_t got = 0;
  bool was_reset = false;  // is told once, before what came until then
  do {
    got = recvmsg(socket.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && (errno == EINTR || (errno == ECONNRESET && !std::exchange(was_reset, true))));
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Received::kNothing;
  if (got <= 0 || (header.msg_flags & MSG_TRUNC)) return Received::kEnd;
  message->resize(static_cast<std::size_t>(got));
  return Received::kMessage;
}

Sent send(const Descriptor& socket, std::string_view message) {
  for (;;) {
    if (::send(socket.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return Sent::kAll;
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ? Sent::kFull : Sent::kEnd;
  }
}

}  // namespace tandem::membership
