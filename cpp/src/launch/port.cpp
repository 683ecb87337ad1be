#include "launch/port.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "launch/failure.h"

namespace tandem::launch {

PortReservation::PortReservation(int port) {
  // IPv6's wildcard covers IPv4 as well; a kernel without IPv6 gets IPv4's.
  sockaddr_storage address{};
  socklen_t size = 0;
  socket_.reset(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  const int off = 0;
  if (socket_.valid()) {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&address);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(static_cast<std::uint16_t>(port));
    size = sizeof *v6;
    setsockopt(socket_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  } else {
    socket_.reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    auto* v4 = reinterpret_cast<sockaddr_in*>(&address);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(static_cast<std::uint16_t>(port));
    size = sizeof *v4;
  }
  setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) {
    const std::string what = port ? "port " + std::to_string(port) : "a free port";
    const std::string cause = errno == EADDRINUSE ? "it is in use" : std::strerror(errno);
    throw Failure("cannot have " + what + " for rank 0: " + cause +
                  (port ? "; choose another with --master-port, or leave the flag out" : ""));
  }
  getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                              : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

}  // namespace tandem::launch
