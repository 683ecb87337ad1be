#include "comm/hosts/failure_channel.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/own_thread.h"
#include "comm/shm/lost.h"

namespace tandem::hosts {
namespace {

// How often it is looked whether a rank that went without a word is missed.
constexpr std::chrono::milliseconds kMissesLook{100};

// How long a collective before the one that failed may take to end.
constexpr std::chrono::milliseconds kGrace{80};

constexpr char kFailed = 'F';
constexpr char kClosed = 'C';
// Of a message, of which each rank sends at most one.
struct Head {
  char kind = kFailed;
  char unused[7]{};
  std::uint64_t length = 0;  // of the text that follows
  std::uint64_t collective = 0;
};
constexpr std::size_t kMostText = 1000;

std::string message_of(char kind, const std::string& reason, std::uint64_t collective) {
  const std::string text = reason.substr(0, kMostText);
  Head head;
  head.kind = kind;
  head.length = text.size();
  head.collective = collective;
  return std::string(reinterpret_cast<const char*>(&head), sizeof head) + text;
}

}  // namespace

FailureChannel::FailureChannel(std::vector<shm::Descriptor> sockets) {
  for (shm::Descriptor& socket : sockets) {
    Connection& connection = connections_.emplace_back();
    connection.is_open = socket.get() >= 0;
    connection.socket = std::move(socket);
  }
}

void FailureChannel::watch(std::function<void(const Error&)> failed, std::function<std::uint64_t()> busy) {
  failed_ = std::move(failed);
  busy_ = std::move(busy);
  wake_ = shm::Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake_.get() < 0) throw Error(ErrorCode::kIo, std::string("cannot make an eventfd: ") + std::strerror(errno));
  watcher_ = start_own_thread("tandem-failures", [self = shared_from_this()] { self->serve(); });
}

void FailureChannel::stop() {
  if (!watcher_.joinable()) return;
  stopping_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t size = write(wake_.get(), &one, sizeof one);
  if (watcher_.get_id() == std::this_thread::get_id()) {
    watcher_.detach();  // it has told the last user of the group, and is about to end
  } else {
    watcher_.join();
  }
}

void FailureChannel::send_failure(const std::string& reason, std::uint64_t collective) {
  send_all(message_of(kFailed, reason, collective));
}

void FailureChannel::send_closed(std::uint64_t collectives) {
  send_all(message_of(kClosed, "", collectives));
}

// Some hundred bytes fit into a buffer that nothing else uses; who is gone needs nothing.
void FailureChannel::send_all(const std::string& message) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (has_sent_) return;
  has_sent_ = true;
  for (const Connection& connection : connections_) {
    if (connection.socket.get() >= 0) {
      [[maybe_unused]] const ssize_t size = send(connection.socket.get(), message.data(), message.size(), MSG_NOSIGNAL);
    }
  }
}

void FailureChannel::serve() {
  std::uint64_t seen = 0;
  Clock::time_point next_look;
  while (!stopping_) {
    std::vector<pollfd> waits = {{wake_.get(), POLLIN, 0}};
    std::vector<int> ranks = {-1};
    bool misses = false;
    for (std::size_t rank = 0; rank < connections_.size(); ++rank) {
      const Connection& connection = connections_[rank];
      misses |= connection.is_missed;
      if (!connection.is_open) continue;
      waits.push_back({connection.socket.get(), POLLIN, 0});
      ranks.push_back(static_cast<int>(rank));
    }
    poll(waits.data(), waits.size(), misses ? static_cast<int>(kMissesLook.count()) : -1);
    for (std::size_t i = 1; i < waits.size() && !stopping_; ++i) {
      if (waits[i].revents != 0 && receive(ranks[i])) return;
    }
    if (!misses || stopping_ || Clock::now() < next_look) continue;
    if (is_needed(&seen)) return;
    next_look = Clock::now() + kMissesLook;
  }
}

// Whether that was the end of the group.
bool FailureChannel::receive(int rank) {
  Connection& connection = connections_[rank];
  char buffer[256];
  const ssize_t size = recv(connection.socket.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (size > 0) connection.received.append(buffer, static_cast<std::size_t>(size));
  const std::string& received = connection.received;
  if (size <= 0) {
    connection.is_open = false;
    connection.is_missed = true;
    return false;
  }
  Head head;
  if (received.size() < sizeof head) return false;
  std::memcpy(&head, received.data(), sizeof head);
  const std::size_t length = std::min<std::size_t>(head.length, kMostText);
  if (received.size() < sizeof head + length) return false;
  if (head.kind == kClosed) {
    connection.is_open = false;
    return on_closed(rank, head.collective);
  }
  await_earlier(head.collective);
  failed_(shm::ended_by(rank, received.substr(sizeof head, length)));
  return true;
}

bool FailureChannel::on_closed(int rank, std::uint64_t collectives) {
  if (collectives < all_take_part_) {
    first_closed_ = rank;
    all_take_part_ = collectives;
  }
  // One that begins from now on sees it for itself.
  const auto closed = closed_before(busy_());
  if (closed) failed_(*closed);
  return closed.has_value();
}

std::optional<Error> FailureChannel::closed_before(std::uint64_t collective) const {
  if (collective <= all_take_part_) return std::nullopt;
  return shm::closed_by(first_closed_);
}

void FailureChannel::await_earlier(std::uint64_t collective) {
  const auto deadline = Clock::now() + kGrace;
  while (!stopping_ && Clock::now() < deadline) {
    const std::uint64_t running = busy_();
    if (running == 0 || running >= collective) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Whether a collective has gone on for a while since a rank closed its connection: it needs that rank, or one that
// does.
bool FailureChannel::is_needed(std::uint64_t* seen) {
  const std::uint64_t running = busy_();
  if (running == 0 || running != std::exchange(*seen, running)) return false;
  const auto missed =
      std::find_if(connections_.begin(), connections_.end(), [](const Connection& one) { return one.is_missed; });
  failed_(Error(ErrorCode::kPeerLost, "rank " + std::to_string(missed - connections_.begin()) +
                                          " closed its connection, because it died or left the group"));
  return true;
}

}  // namespace tandem::hosts
