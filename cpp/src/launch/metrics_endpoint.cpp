#include "launch/metrics_endpoint.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "comm/sockets.h"
#include "launch/failure.h"
#include "tandem/error.h"

namespace tandem::launch {
namespace {

constexpr std::size_t kMostRequestBytes = 16 << 10;
constexpr std::size_t kMostRequests = 64;  // at a time
constexpr std::chrono::seconds kRequestPatience{10};
constexpr std::chrono::seconds kEndPatience{1};  // until who has its answer is gone
constexpr std::chrono::seconds kShortFor{1};

std::string response(const std::string& status, const std::string& type, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n\r\n" + body;
}

bool is_early(int failure) { return failure == EAGAIN || failure == EWOULDBLOCK || failure == EINTR; }

// Of "GET /path?query HTTP/1.1"; "": it is none.
std::string path_of(const std::string& request) {
  const std::string line = request.substr(0, request.find("\r\n"));
  const std::size_t end = line.rfind(" HTTP/1.");
  if (!line.starts_with("GET /") || end == std::string::npos || end < 5) return "";
  const std::string path = line.substr(4, end - 4);
  return path.substr(0, path.find('?'));
}

}  // namespace

MetricsEndpoint::MetricsEndpoint(const std::string& address, int port) {
  try {
    const net::Listener listener = net::listen_on(address, static_cast<std::uint16_t>(port));
    listener_.reset(listener.fd);
    url_ = "http://" + net::to_string(listener.endpoint) + "/metrics";
  } catch (const Error& error) {
    throw Failure(std::string("--metrics-port: ") + error.what());
  }
  fcntl(listener_.get(), F_SETFL, fcntl(listener_.get(), F_GETFL) | O_NONBLOCK);
  fcntl(listener_.get(), F_SETFD, FD_CLOEXEC);
}

void MetricsEndpoint::add_polled(std::vector<pollfd>* polled) const {
  if (connections_.size() < kMostRequests && !short_until_) polled->push_back({listener_.get(), POLLIN, 0});
  for (const Connection& each : connections_) {
    polled->push_back(
        {each.socket.get(), static_cast<short>(each.answer.empty() || each.is_sent() ? POLLIN : POLLOUT), 0});
  }
}

std::optional<MetricsEndpoint::Time> MetricsEndpoint::deadline() const {
  std::optional<Time> next = short_until_;
  for (const Connection& each : connections_) next = std::min(next.value_or(each.until), each.until);
  return next;
}

void MetricsEndpoint::serve(Time now, const std::function<std::optional<Answer>(const std::string&)>& answer) {
  if (short_until_ && now >= *short_until_) short_until_.reset();
  while (connections_.size() < kMostRequests && !short_until_) {
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid() && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
      short_until_ = now + kShortFor;
    if (!socket.valid()) break;
    connections_.push_back({std::move(socket), now + kRequestPatience, "", "", 0, 0, false});
  }
  for (Connection& one : connections_) {
    while (one.answer.empty() && !one.over) {
      char part[4096];
      const ssize_t got = recv(one.socket.get(), part, sizeof part, MSG_DONTWAIT);
      if (got < 0 && is_early(errno)) break;
      if (got > 0) one.request.append(part, static_cast<std::size_t>(got));
      one.over = got <= 0 || one.request.size() > kMostRequestBytes;
      if (one.over || one.request.find("\r\n\r\n") == std::string::npos) continue;
      const std::string path = path_of(one.request);
      const auto found = path.empty() ? std::nullopt : answer(path);
      one.answer = path.empty() ? response("405 Method Not Allowed", "text/plain", "only GET is answered here\n")
                   : found      ? response("200 OK", found->type, found->body)
                                : response("404 Not Found", "text/plain", "there are /metrics and /job\n");
    }
    while (one.sent < one.answer.size() && !one.over) {
      const ssize_t sent = send(one.socket.get(), one.answer.data() + one.sent, one.answer.size() - one.sent,
                                MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0 && is_early(errno)) break;
      if (sent > 0) one.sent += static_cast<std::size_t>(sent);
      one.over = sent <= 0;
      if (!one.is_sent()) continue;
      shutdown(one.socket.get(), SHUT_WR);
      one.until = std::min(one.until, now + kEndPatience);
    }
    // Closed while some of a request is unread, a connection is reset, and the answer may be lost.
    while (!one.answer.empty() && one.is_sent() && !one.over) {
      char rest[4096];
      const ssize_t got = recv(one.socket.get(), rest, sizeof rest, MSG_DONTWAIT);
      if (got < 0 && is_early(errno)) break;
      one.over = got <= 0 || (one.drained += static_cast<std::size_t>(got)) > kMostRequestBytes;
    }
    one.over |= now >= one.until;
  }
  connections_.remove_if([](const Connection& one) { return one.over; });
}

}  // namespace tandem::launch
