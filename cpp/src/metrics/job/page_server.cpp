#include "metrics/job/page_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/passed_descriptor.h"

namespace tandem::metrics {
namespace {

constexpr std::size_t kMostConnections = 256;  // at a time; more wait
constexpr std::chrono::seconds kPatience{10};  // with who says nothing, or does not read
constexpr std::chrono::seconds kShortFor{1};
constexpr std::string_view kPage = "page ";

// Nothing: none waits, or it is not of this user, which is refused.
std::optional<Descriptor> accept_one(const Descriptor& listener, pid_t* pid, bool* waits, bool* is_short) {
  Descriptor made(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  const int failure = errno;
  *waits = made.valid();
  *is_short = !made.valid() && (failure == EMFILE || failure == ENFILE || failure == ENOBUFS || failure == ENOMEM);
  if (!made.valid()) return std::nullopt;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(made.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  if (peer.uid != geteuid() && peer.uid != 0) return std::nullopt;
  *pid = peer.pid;
  return made;
}

std::optional<std::int64_t> worker_in(std::string_view text) {
  if (!text.starts_with(kPage)) return std::nullopt;
  text.remove_prefix(kPage.size());
  std::int64_t number = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

void PageServer::add_polled(std::vector<pollfd>* polled) const {
  if (connections_.size() < kMostConnections && !short_until_) polled->push_back({listener_.get(), POLLIN, 0});
  for (const Connection& each : connections_) {
    const int wanted = (short_until_ ? 0 : POLLIN) | (each.unsent.empty() ? 0 : POLLOUT);
    if (wanted == 0) continue;
    polled->push_back({each.socket.get(), static_cast<short>(wanted), 0});
  }
}

std::optional<PageServer::Time> PageServer::deadline() const {
  std::optional<Time> next = short_until_;
  for (const Connection& each : connections_) {
    if (!short_until_) next = std::min(next.value_or(each.until), each.until);
  }
  return next;
}

void PageServer::serve(const Handlers& handlers) {
  const Time now = std::chrono::steady_clock::now();
  if (short_until_ && now >= *short_until_) short_until_.reset();
  for (bool waits = !short_until_; waits && connections_.size() < kMostConnections;) {
    Connection connection;
    bool is_short = false;
    auto socket = accept_one(listener_, &connection.pid, &waits, &is_short);
    if (is_short) short_until_ = now + kShortFor;
    if (!socket) continue;
    connection.until = now + kPatience;
    connection.socket = std::move(*socket);
    connections_.push_back(std::move(connection));
  }
  for (Connection& connection : connections_) {
    if (!short_until_ && !has_descriptor()) short_until_ = now + kShortFor;
    if (!short_until_) receive(connection, handlers);
    write(connection);
  }
  connections_.remove_if([&](const Connection& one) {
    return one.broken || (one.ends && one.unsent.empty()) || (!short_until_ && now >= one.until);
  });
}

// A page that comes while there is none would be lost, and its process sends it once.
bool PageServer::has_descriptor() const { return duplicate(listener_.get()).valid(); }

void PageServer::receive(Connection& connection, const Handlers& handlers) {
  while (!connection.broken) {
    char text[64];
    Descriptor memory;
    const ssize_t got = receive_descriptor(connection.socket.get(), text, sizeof text, &memory, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    const std::string_view said(text, got > 0 ? static_cast<std::size_t>(got) : 0);
    if (said == kAskForJob && !connection.ends) {
      connection.ends = true;
      const std::string answer = handlers.job();
      for (std::size_t at = 0; at < answer.size(); at += kAnswerBytes)
        connection.unsent.push_back(answer.substr(at, kAnswerBytes));
      continue;
    }
    connection.broken = true;  // once its page is here there is nothing more to say
    const auto worker = worker_in(said);
    if (!worker || !memory.valid() || !handlers.knows(*worker)) return;
    std::optional<Page> page = Page::open(std::move(memory));
    if (page) pages_.insert_or_assign(*worker, Reporter{connection.pid, std::move(*page)});
  }
}

void PageServer::write(Connection& connection) {
  while (!connection.unsent.empty() && !connection.broken) {
    const std::string& next = connection.unsent.front();
    if (send(connection.socket.get(), next.data(), next.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
      connection.unsent.pop_front();
    } else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) {
      return;
    } else {
      connection.broken = errno != EINTR;
    }
  }
}

std::optional<PageServer::Reporting> PageServer::read(std::int64_t worker) const {
  const auto found = pages_.find(worker);
  if (found == pages_.end()) return std::nullopt;
  const auto measured = found->second.page.read();
  return measured ? std::optional(Reporting{found->second.pid, *measured}) : std::nullopt;
}

}  // namespace tandem::metrics
