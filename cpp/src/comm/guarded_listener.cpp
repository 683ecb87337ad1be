#include "comm/guarded_listener.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/types.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "tandem/error.h"

namespace tandem::net {
namespace {

std::string random_password() {
  unsigned char random[GuardedListener::kPasswordBytes / 2];
  if (getrandom(random, sizeof random, 0) != static_cast<ssize_t>(sizeof random)) {
    throw Error(ErrorCode::kIo, std::string("cannot get randomness: ") + std::strerror(errno));
  }
  std::string text;
  for (const unsigned char byte : random) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace

std::string GuardedAddress::encode() const {
  return endpoint.address + " " + std::to_string(endpoint.port) + " " + password;
}

GuardedAddress GuardedAddress::decode(const std::string& text) {
  GuardedAddress address;
  std::istringstream(text) >> address.endpoint.address >> address.endpoint.port >> address.password;
  return address;
}

GuardedListener::GuardedListener(const std::string& address) {
  const Listener listener = listen_on(address, 0);
  socket_ = Descriptor(listener.fd);
  fcntl(listener.fd, F_SETFL, O_NONBLOCK);
  address_ = {listener.endpoint, random_password()};
}

}  // namespace tandem::net
