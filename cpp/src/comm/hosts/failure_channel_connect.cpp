#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

#include "comm/arrivals.h"
#include "comm/hosts/failure_channel.h"

namespace tandem::hosts {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kConnectLook{50};

// What a rank that connects sends first.
struct Hello {
  char password[FailureListener::kPasswordBytes];
  std::int32_t rank;
};

std::string random_password() {
  unsigned char random[FailureListener::kPasswordBytes / 2];
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

bool becomes_ready(int fd, short events, milliseconds wait) {
  pollfd ready{fd, events, 0};
  return poll(&ready, 1, static_cast<int>(wait.count())) == 1;
}

class Connector {
 public:
  Connector(int rank, const std::vector<FailureAddress>& addresses, const FailureListener& socket,
            const std::string& group, FailureChannel::Clock::time_point deadline, const std::function<void()>& check)
      : rank_(rank),
        size_(static_cast<int>(addresses.size())),
        addresses_(addresses),
        socket_(socket),
        group_(group),
        deadline_(deadline),
        check_(check),
        sockets_(addresses.size()) {}

  // Every rank connects to those before it and accepts those after it. All listen before addresses are exchanged.
  std::vector<shm::Descriptor> run() {
    for (int other = 0; other < rank_; ++other) connect_to(other);
    for (int missing = size_ - rank_ - 1; missing > 0;) {
      check_time(first_missing());
      for (shm::Descriptor& arrived : arrivals_.next(kConnectLook)) missing -= take_in(std::move(arrived));
    }
    return std::move(sockets_);
  }

 private:
  void connect_to(int other) {
    const FailureAddress& address = addresses_[other];
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int failure =
        getaddrinfo(address.endpoint.address.c_str(), std::to_string(address.endpoint.port).c_str(), &hints, &found);
    if (failure != 0) throw unreachable(other, gai_strerror(failure));
    shm::Descriptor fd(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd.get() < 0) {
      const int cause = errno;
      freeaddrinfo(found);
      throw net::shortage(cause, "cannot make a socket to connect to rank " + std::to_string(other));
    }
    const bool failed = connect(fd.get(), found->ai_addr, found->ai_addrlen) != 0 && errno != EINPROGRESS;
    freeaddrinfo(found);
    if (failed) throw unreachable(other, std::strerror(errno));
    while (!becomes_ready(fd.get(), POLLOUT, kConnectLook)) check_time(other);
    int problem = 0;
    socklen_t size = sizeof problem;
    getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &problem, &size);
    if (problem != 0) throw unreachable(other, std::strerror(problem));
    Hello hello{};
    std::memcpy(hello.password, address.password.data(), std::min(address.password.size(), sizeof hello.password));
    hello.rank = rank_;
    // It fits into a new socket's buffer.
    if (send(fd.get(), &hello, sizeof hello, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof hello)) {
      throw unreachable(other, std::strerror(errno));
    }
    sockets_[other] = std::move(fd);
  }

  // Whether that was one of the missing ranks. Who is not of this group is sent away.
  bool take_in(shm::Descriptor fd) {
    Hello hello{};
    if (recv(fd.get(), &hello, sizeof hello, 0) != static_cast<ssize_t>(sizeof hello)) return false;
    const bool knows =
        socket_.address().password.compare(0, std::string::npos, hello.password, sizeof hello.password) == 0;
    if (!knows || hello.rank <= rank_ || hello.rank >= size_ || sockets_[hello.rank].get() >= 0) return false;
    sockets_[hello.rank] = std::move(fd);
    return true;
  }

  int first_missing() const {
    int rank = rank_ + 1;
    while (sockets_[rank].get() >= 0) ++rank;
    return rank;
  }

  void check_time(int other) const {
    check_();
    if (FailureChannel::Clock::now() < deadline_) return;
    throw Error(ErrorCode::kTimeout, "rank " + std::to_string(other) + " and rank " + std::to_string(rank_) +
                                         " of group '" + group_ + "' did not connect in time, though both were there " +
                                         "before; see whether a firewall stands between " +
                                         net::to_string(addresses_[other].endpoint) + " and " +
                                         net::to_string(addresses_[rank_].endpoint));
  }

  Error unreachable(int other, const std::string& why) const {
    return Error(ErrorCode::kPeerLost, "rank " + std::to_string(rank_) + " could not connect to rank " +
                                           std::to_string(other) + " of group '" + group_ + "' at " +
                                           net::to_string(addresses_[other].endpoint) + ": " + why);
  }

  const int rank_;
  const int size_;
  const std::vector<FailureAddress>& addresses_;
  const FailureListener& socket_;
  const std::string& group_;
  const FailureChannel::Clock::time_point deadline_;
  const std::function<void()>& check_;
  net::Arrivals arrivals_{socket_.descriptor()};
  std::vector<shm::Descriptor> sockets_;
};

}  // namespace

std::string FailureAddress::encode() const {
  return endpoint.address + " " + std::to_string(endpoint.port) + " " + password;
}

FailureAddress FailureAddress::decode(const std::string& text) {
  FailureAddress address;
  std::istringstream(text) >> address.endpoint.address >> address.endpoint.port >> address.password;
  return address;
}

FailureListener::FailureListener(const std::string& address) {
  const net::Listener listener = net::listen_on(address, 0);
  socket_ = shm::Descriptor(listener.fd);
  fcntl(listener.fd, F_SETFL, O_NONBLOCK);
  address_ = {listener.endpoint, random_password()};
}

std::vector<shm::Descriptor> FailureChannel::connect(int rank, const std::vector<FailureAddress>& addresses,
                                                     const FailureListener& socket, const std::string& group,
                                                     Clock::time_point deadline, const std::function<void()>& check) {
  return Connector(rank, addresses, socket, group, deadline, check).run();
}

}  // namespace tandem::hosts
