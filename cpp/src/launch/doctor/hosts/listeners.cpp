#include "launch/doctor/hosts/listeners.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "comm/sockets.h"

namespace tandem::doctor {
namespace {

constexpr std::chrono::milliseconds kPause{200};

std::string why_not_there(int failure) {
  if (failure == EADDRINUSE) return "port in use: another program listens there";
  if (failure == EADDRNOTAVAIL) return "that is no address of this machine";
  if (failure == EACCES) return "ports under 1024 need privileges";
  return std::strerror(failure);
}

}  // namespace

std::string Listeners::add(const std::string& address, std::uint16_t* port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(address.c_str(), std::to_string(*port).c_str(), &hints, &found) != 0) return "that is no address";
  // As a launch listens: at this address alone.
  Descriptor socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const bool listens = socket.valid() && bind(socket.get(), found->ai_addr, found->ai_addrlen) == 0 &&
                       listen(socket.get(), SOMAXCONN) == 0;
  const int failure = errno;
  freeaddrinfo(found);
  if (!listens) return why_not_there(failure);
  *port = net::endpoint_of_listener(socket.get()).port;
  sockets_.push_back(std::move(socket));
  return "";
}

void Listeners::add_polled(std::vector<pollfd>* polled) const {
  if (Clock::now() < resumes_ && resumes_ != Clock::time_point::max()) return;
  for (const Descriptor& socket : sockets_) polled->push_back({socket.get(), POLLIN, 0});
}

void Listeners::serve() {
  if (Clock::now() >= resumes_) resumes_ = Clock::time_point::max();
  if (resumes_ != Clock::time_point::max()) return;
  for (const Descriptor& socket : sockets_) {
    for (;;) {
      const Descriptor peer(accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!peer.valid()) {
        if (net::is_shortage(errno)) resumes_ = Clock::now() + kPause;
        break;
      }
      (void)send(peer.get(), token_.data(), token_.size(), MSG_NOSIGNAL);  // a few bytes, which a new connection takes
    }
  }
}

}  // namespace tandem::doctor
