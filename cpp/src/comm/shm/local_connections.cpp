#include "comm/shm/local_connections.h"

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>

#include "base/passed_descriptor.h"
#include "comm/arrivals.h"
#include "tandem/error.h"

namespace tandem::shm {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::uint64_t kVersion = 0x74616e64656d0003;  // changes with the layout of what ranks share
constexpr milliseconds kDeadLook{100};                  // how often waiting looks for ranks that died

// With which each side introduces itself; its segment's descriptor comes along.
struct Hello {
  std::uint64_t version = kVersion;
  std::int32_t rank = -1;
  std::int32_t size = 0;
  std::uint64_t bytes = 0;
};

struct Address {
  explicit Address(const std::string& name) {
    address.sun_family = AF_UNIX;
    // The first byte stays 0: an abstract name.
    const std::size_t size = std::min(name.size(), sizeof address.sun_path - 1);
    std::memcpy(address.sun_path + 1, name.data(), size);
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address{};
  socklen_t length;
};

Error failure(const std::string& what) {
  return Error(ErrorCode::kIo, what + ": " + std::strerror(errno));
}

Descriptor new_socket() {
  Descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (made.get() < 0) throw failure("cannot make a local socket");
  return made;
}

bool is_readable(int fd, milliseconds wait) {
  pollfd ready{fd, POLLIN, 0};
  return poll(&ready, 1, static_cast<int>(wait.count())) == 1;
}

// Whether there is something to read, also of a peer that has closed.
bool has_sent(int fd) {
  char byte = 0;
  return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

bool same_user(int fd) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

bool send_hello(int fd, const Hello& hello, int segment) {
  return send_descriptor(fd, &hello, sizeof hello, segment);  // it fits into a new socket's buffer
}

// False: the peer closed, or sent something else.
bool receive_hello(int fd, Hello* hello, Descriptor* segment) {
  const ssize_t size = receive_descriptor(fd, hello, sizeof *hello, segment);
  return size == static_cast<ssize_t>(sizeof *hello) && segment->valid();
}

class LocalConnector {
 public:
  LocalConnector(const LocalRanks& ranks, const std::vector<std::string>& names, const LocalListener& listener,
                 const std::shared_ptr<Segment>& own, Clock::time_point deadline, const std::atomic<bool>& cancelled)
      : ranks_(ranks),
        rank_(ranks.self),
        size_(ranks.size()),
        names_(names),
        listener_(listener),
        own_(own),
        deadline_(deadline),
        cancelled_(cancelled) {
    peers_.ranks = ranks;
    peers_.segments.resize(names.size());
    peers_.sockets.resize(names.size());
    peers_.segments[rank_] = own;
    self_.rank = rank_;
    self_.size = size_;
    self_.bytes = own->bytes();
  }

  // Every rank connects to those before it, and answers those after it. All listen before anyone is
  // told their names, and nobody stops before all have come, so that who does not listen is gone.
  LocalConnections run() {
    for (int other = 0; other < rank_; ++other) call(other);
    while (!missing(rank_ + 1, size_).empty()) answer();
    for (int other = 0; other < rank_; ++other) receive_from(other);
    return std::move(peers_);
  }

 private:
  void call(int other) {
    Descriptor socket = new_socket();
    const Address address(names_[other]);
    while (connect(socket.get(), address.get(), address.length) != 0) {
      if (errno != EAGAIN && errno != EINTR) lost(other);  // EAGAIN: its queue is full
      check({other});
      std::this_thread::sleep_for(milliseconds(1));
    }
    if (!same_user(socket.get())) throw foreign(other);
    if (!send_hello(socket.get(), self_, own_->descriptor())) lost(other);
    peers_.sockets[other] = std::move(socket);
  }

  // Takes in who has come. Who is not of this group is sent away.
  void answer() {
    const auto awaited = missing(rank_ + 1, size_);
    check(awaited);
    auto arrived = arrivals_.next(kDeadLook);
    for (Descriptor& socket : arrived) take_in(std::move(socket));
    if (!arrived.empty() || Clock::now() < next_look_) return;
    look_for_dead(awaited);
    next_look_ = Clock::now() + kDeadLook;
  }

  void take_in(Descriptor socket) {
    Hello hello;
    Descriptor segment;
    if (!same_user(socket.get()) || !receive_hello(socket.get(), &hello, &segment)) return;
    if (hello.rank <= rank_ || hello.rank >= size_ || peers_.sockets[hello.rank].get() >= 0) return;
    accept_segment(hello.rank, hello, std::move(segment));
    if (!send_hello(socket.get(), self_, own_->descriptor())) lost(hello.rank);
    peers_.sockets[hello.rank] = std::move(socket);
  }

  void receive_from(int other) {
    const int fd = peers_.sockets[other].get();
    while (!is_readable(fd, kDeadLook)) check({other});
    Hello hello;
    Descriptor segment;
    if (!receive_hello(fd, &hello, &segment)) lost(other);
    accept_segment(other, hello, std::move(segment));
  }

  void accept_segment(int other, const Hello& hello, Descriptor segment) {
    if (hello.version != kVersion || hello.size != size_ || hello.bytes != self_.bytes || hello.rank != other) {
      throw Error(ErrorCode::kInvalidArgument, list({other}) + " of group '" + ranks_.group +
                                                   "' lays out shared memory in another way than " + list({rank_}) +
                                                   "; start the same version of Tandem on every rank");
    }
    peers_.segments[other] = Segment::open(std::move(segment), hello.bytes);
  }

  std::vector<int> missing(int begin, int end) const {
    std::vector<int> ranks;
    for (int rank = begin; rank < end; ++rank) {
      if (peers_.sockets[rank].get() < 0) ranks.push_back(rank);
    }
    return ranks;
  }

  // Nobody has come for a while: sees who cannot come any more.
  void look_for_dead(const std::vector<int>& awaited) {
    for (const int other : awaited) {
      const Descriptor socket = new_socket();
      const Address address(names_[other]);
      if (connect(socket.get(), address.get(), address.length) == 0 || errno != ECONNREFUSED) continue;
      if (is_readable(listener_.descriptor(), milliseconds(0))) return;  // it may be in the queue
      lost(other);
    }
  }

  void check(const std::vector<int>& awaited) const {
    if (cancelled_) throw Error(ErrorCode::kAborted, "meeting the other ranks was aborted");
    for (int other = 0; other < rank_; ++other) {
      if (peers_.sockets[other].get() < 0 || peers_.segments[other] || !peers_.is_gone(other)) continue;
      // Who has met all may leave at once, and this rank has its answer all the same.
      if (!has_sent(peers_.sockets[other].get())) lost(other);
    }
    if (Clock::now() < deadline_) return;
    throw Error(ErrorCode::kTimeout, list(awaited) + " did not connect to " + list({rank_}) + " of group '" +
                                         ranks_.group + "' in time, though it was there before");
  }

  std::string list(const std::vector<int>& ranks) const {
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < ranks.size(); ++i) text += (i ? ", " : "") + std::to_string(ranks_.numbers[ranks[i]]);
    return text;
  }

  [[noreturn]] void lost(int other) const {
    throw Error(ErrorCode::kPeerLost,
                list({other}) + " of group '" + ranks_.group + "' ended while the ranks connected to each other");
  }

  Error foreign(int other) const {
    return Error(ErrorCode::kInvalidArgument, list({other}) + " of group '" + ranks_.group +
                                                  "' runs as another user than " + list({rank_}) +
                                                  "; start all ranks as one user, or use backend gloo");
  }

  const LocalRanks& ranks_;
  const int rank_;
  const int size_;
  const std::vector<std::string>& names_;
  const LocalListener& listener_;
  const std::shared_ptr<Segment>& own_;
  const Clock::time_point deadline_;
  const std::atomic<bool>& cancelled_;
  net::Arrivals arrivals_{listener_.descriptor()};
  Clock::time_point next_look_ = Clock::now() + kDeadLook;
  Hello self_;
  LocalConnections peers_;
};

}  // namespace

LocalListener::LocalListener(int size) {
  std::uint64_t random[2];
  if (getrandom(random, sizeof random, 0) != static_cast<ssize_t>(sizeof random))
    throw failure("cannot get randomness");
  char name[48];
  std::snprintf(name, sizeof name, "tandem-%016llx%016llx", static_cast<unsigned long long>(random[0]),
                static_cast<unsigned long long>(random[1]));
  name_ = name;
  socket_ = new_socket();
  const Address address(name_);
  if (bind(socket_.get(), address.get(), address.length) != 0 || listen(socket_.get(), size) != 0) {
    throw failure("cannot listen on a local socket");
  }
}

std::string LocalRanks::whereabouts() const {
  return "group '" + group + "' (rank " + std::to_string(numbers[self]) + " of " + std::to_string(group_size) + ")";
}

bool LocalConnections::is_gone(int rank) const {
  pollfd state{sockets[rank].get(), 0, 0};
  return poll(&state, 1, 0) == 1 && (state.revents & (POLLHUP | POLLERR)) != 0;
}

LocalConnections connect_local(const LocalRanks& ranks, const std::vector<std::string>& names,
                               const LocalListener& listener, const std::shared_ptr<Segment>& own,
                               Clock::time_point deadline, const std::atomic<bool>& cancelled) {
  return LocalConnector(ranks, names, listener, own, deadline, cancelled).run();
}

}  // namespace tandem::shm
