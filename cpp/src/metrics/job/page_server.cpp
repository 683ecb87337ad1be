#include "metrics/job/page_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

namespace tandem::metrics {
namespace {

constexpr std::size_t kMostConnections = 4096;
constexpr std::string_view kPage = "page ";

// Nothing: none waits, or it is not of this user, which is refused.
std::optional<Descriptor> accept_one(const Descriptor& listener, pid_t* pid, bool* waits) {
  Descriptor made(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  *waits = made.valid();
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
  if (connections_.size() < kMostConnections) polled->push_back({listener_.get(), POLLIN, 0});
  for (const Connection& each : connections_) {
    const int wanted = POLLIN | (each.unsent.empty() ? 0 : POLLOUT);
    polled->push_back({each.socket.get(), static_cast<short>(wanted), 0});
  }
}

void PageServer::serve(const Handlers& handlers) {
  for (bool waits = true; waits && connections_.size() < kMostConnections;) {
    Connection connection;
    auto socket = accept_one(listener_, &connection.pid, &waits);
    if (!socket) continue;
    connection.socket = std::move(*socket);
    connections_.push_back(std::move(connection));
  }
  for (Connection& connection : connections_) {
    receive(connection, handlers);
    write(connection);
  }
  connections_.remove_if([](const Connection& one) { return one.broken || (one.ends && one.unsent.empty()); });
}

void PageServer::receive(Connection& connection, const Handlers& handlers) {
  while (!connection.broken) {
    char text[64];
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    iovec place{text, sizeof text};
    msghdr header{};
    header.msg_iov = &place;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    const ssize_t got = recvmsg(connection.socket.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    Descriptor memory;
    const cmsghdr* rights = got > 0 ? CMSG_FIRSTHDR(&header) : nullptr;
    if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(rights), sizeof fd);
      memory.reset(fd);
    }
    const std::string_view said(text, got > 0 ? static_cast<std::size_t>(got) : 0);
    if (said == kAskForJob && !connection.ends) {
      connection.ends = true;
      const std::string answer = handlers.job();
      for (std::size_t at = 0; at < answer.size(); at += kAnswerBytes) connection.unsent.push_back(answer.substr(at, kAnswerBytes));
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
