#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "comm/arrivals.h"
#include "comm/hosts/failure_channel.h"

namespace tandem::hosts {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kConnectLook{50};

// What a rank that connects sends first.
struct Hello {
  char password[net::GuardedListener::kPasswordBytes];
  std::int32_t rank;
};

bool becomes_ready(int fd, short events, milliseconds wait) {
  pollfd ready{fd, events, 0};
  return poll(&ready, 1, static_cast<int>(wait.count())) == 1;
}

class Connector {
 public:
  Connector(int rank, const std::vector<net::GuardedAddress>& addresses, const net::GuardedListener& socket,
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
    const net::GuardedAddress& address = addresses_[other];
    int problem = 0;
    shm::Descriptor fd = net::begin_to_connect(address.endpoint, &problem);
    if (problem != 0) throw unreachable(other, std::strerror(problem));
    while (!becomes_ready(fd.get(), POLLOUT, kConnectLook)) check_time(other);
    problem = net::outcome_of_connecting(fd.get());
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
    const bool knows = socket_.is_password({hello.password, sizeof hello.password});
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
  const std::vector<net::GuardedAddress>& addresses_;
  const net::GuardedListener& socket_;
  const std::string& group_;
  const FailureChannel::Clock::time_point deadline_;
  const std::function<void()>& check_;
  net::Arrivals arrivals_{socket_.descriptor()};
  std::vector<shm::Descriptor> sockets_;
};

}  // namespace

std::vector<shm::Descriptor> FailureChannel::connect(int rank, const std::vector<net::GuardedAddress>& addresses,
                                                     const net::GuardedListener& socket, const std::string& group,
                                                     Clock::time_point deadline, const std::function<void()>& check) {
  return Connector(rank, addresses, socket, group, deadline, check).run();
}

}  // namespace tandem::hosts
