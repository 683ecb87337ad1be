#include "comm/hosts/lines.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "comm/shm/lost.h"
#include "own_thread.h"

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

Lines::Lines(std::vector<shm::Descriptor> sockets) {
  for (shm::Descriptor& socket : sockets) {
    Line& line = lines_.emplace_back();
    line.is_open = socket.get() >= 0;
    line.socket = std::move(socket);
  }
}

void Lines::watch(std::function<void(const Error&)> failed, std::function<std::uint64_t()> busy) {
  failed_ = std::move(failed);
  busy_ = std::move(busy);
  wake_ = shm::Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake_.get() < 0) throw Error(ErrorCode::kIo, std::string("cannot make an eventfd: ") + std::strerror(errno));
  watcher_ = start_own_thread("tandem-lines", [self = shared_from_this()] { self->serve(); });
}

void Lines::stop() {
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

void Lines::alarm(const std::string& reason, std::uint64_t collective) {
  tell(message_of(kFailed, reason, collective));
}

void Lines::close(std::uint64_t collectives) {
  tell(message_of(kClosed, "", collectives));
}

// Some hundred bytes fit into a buffer that nothing else uses; who is gone needs to hear nothing.
void Lines::tell(const std::string& message) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (told_) return;
  told_ = true;
  for (const Line& line : lines_) {
    if (line.socket.get() >= 0) {
      [[maybe_unused]] const ssize_t size = send(line.socket.get(), message.data(), message.size(), MSG_NOSIGNAL);
    }
  }
}

void Lines::serve() {
  std::uint64_t seen = 0;
  Clock::time_point next_look;
  while (!stopping_) {
    std::vector<pollfd> waits = {{wake_.get(), POLLIN, 0}};
    std::vector<int> ranks = {-1};
    bool misses = false;
    for (std::size_t rank = 0; rank < lines_.size(); ++rank) {
      const Line& line = lines_[rank];
      misses |= line.is_missed;
      if (!line.is_open) continue;
      waits.push_back({line.socket.get(), POLLIN, 0});
      ranks.push_back(static_cast<int>(rank));
    }
    poll(waits.data(), waits.size(), misses ? static_cast<int>(kMissesLook.count()) : -1);
    for (std::size_t i = 1; i < waits.size() && !stopping_; ++i) {
      if (waits[i].revents != 0 && listen(ranks[i])) return;
    }
    if (!misses || stopping_ || Clock::now() < next_look) continue;
    if (is_needed(&seen)) return;
    next_look = Clock::now() + kMissesLook;
  }
}

// Whether that was the end of the group.
bool Lines::listen(int rank) {
  Line& line = lines_[rank];
  char buffer[256];
  const ssize_t size = recv(line.socket.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (size > 0) line.heard.append(buffer, static_cast<std::size_t>(size));
  const std::string& heard = line.heard;
  if (size <= 0) {
    line.is_open = false;
    line.is_missed = true;
    return false;
  }
  Head head;
  if (heard.size() < sizeof head) return false;
  std::memcpy(&head, heard.data(), sizeof head);
  const std::size_t length = std::min<std::size_t>(head.length, kMostText);
  if (heard.size() < sizeof head + length) return false;
  if (head.kind == kClosed) {
    line.is_open = false;
    return note_closed(rank, head.collective);
  }
  let_end(head.collective);
  failed_(shm::ended_by(rank, heard.substr(sizeof head, length)));
  return true;
}

bool Lines::note_closed(int rank, std::uint64_t collectives) {
  if (collectives < all_take_part_) {
    first_closed_ = rank;
    all_take_part_ = collectives;
  }
  // One that begins from now on sees it for itself.
  const auto closed = closed_before(busy_());
  if (closed) failed_(*closed);
  return closed.has_value();
}

std::optional<Error> Lines::closed_before(std::uint64_t collective) const {
  if (collective <= all_take_part_) return std::nullopt;
  return shm::closed_by(first_closed_);
}

void Lines::let_end(std::uint64_t before) {
  const auto deadline = Clock::now() + kGrace;
  while (!stopping_ && Clock::now() < deadline) {
    const std::uint64_t running = busy_();
    if (running == 0 || running >= before) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Whether a collective has gone on for a while since a rank closed its line: it needs that rank, or one that does.
bool Lines::is_needed(std::uint64_t* seen) {
  const std::uint64_t running = busy_();
  if (running == 0 || running != std::exchange(*seen, running)) return false;
  const auto missed = std::find_if(lines_.begin(), lines_.end(), [](const Line& line) { return line.is_missed; });
  failed_(Error(ErrorCode::kPeerLost, "rank " + std::to_string(missed - lines_.begin()) +
                                          " closed its connection, because it died or left the group"));
  return true;
}

}  // namespace tandem::hosts
