#include "launch/doctor/hosts/listeners.h"

#include <fcntl.h>
#include <sys/socket.h>

#include "comm/sockets.h"

namespace tandem::doctor {

std::uint16_t Listeners::add(const std::string& address, std::uint16_t port) {
  const net::Listener made = net::listen_on(address, port);
  sockets_.emplace_back(made.fd);
  fcntl(made.fd, F_SETFL, fcntl(made.fd, F_GETFL) | O_NONBLOCK);
  return made.endpoint.port;
}

void Listeners::add_polled(std::vector<pollfd>* polled) const {
  for (const Descriptor& socket : sockets_) polled->push_back({socket.get(), POLLIN, 0});
}

void Listeners::serve() const {
  for (const Descriptor& socket : sockets_) {
    for (;;) {
      const Descriptor peer(accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!peer.valid()) break;
      (void)send(peer.get(), token_.data(), token_.size(), MSG_NOSIGNAL);  // a few bytes, which a new connection takes
    }
  }
}

}  // namespace tandem::doctor
