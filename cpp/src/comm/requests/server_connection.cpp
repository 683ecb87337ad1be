#include "comm/requests/server_connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>

#include "comm/requests/frames.h"
#include "comm/sockets.h"
#include "tandem/error.h"

namespace tandem::requests {
namespace {

using Clock = std::chrono::steady_clock;

// Of a call that waits: kRefused, nobody listens there; kClosed, the other side closed the connection.
enum class Outcome { kDone, kRefused, kClosed, kUnreachable, kLate };

// Between tries.
constexpr std::chrono::milliseconds kTryAgain{10};

bool becomes_ready(const Descriptor& socket, short events, Clock::time_point deadline) {
  pollfd ready{socket.get(), events, 0};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (poll(&ready, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 60000))) > 0) return true;
    if (Clock::now() >= deadline) return false;
  }
}

// Connects, and sends the password and what comes behind it.
Outcome open_with(const net::GuardedAddress& address, std::string_view behind, Clock::time_point deadline,
                  Descriptor* out) {
  int problem = 0;
  Descriptor socket = net::begin_to_connect(address.endpoint, &problem);
  if (problem == 0) {
    if (!becomes_ready(socket, POLLOUT, deadline)) return Outcome::kLate;
    problem = net::outcome_of_connecting(socket.get());
  }
  if (problem == ETIMEDOUT) return Outcome::kLate;
  if (problem == ECONNREFUSED) return Outcome::kRefused;
  if (problem == ECONNRESET) return Outcome::kClosed;
  if (problem != 0) {
    errno = problem;
    return Outcome::kUnreachable;
  }
  net::send_at_once(socket.get());
  std::string hello = std::string(kHello) + address.password;
  hello += behind;
  // It fits into a new socket's buffer.
  const ssize_t sent = send(socket.get(), hello.data(), hello.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(hello.size())) return Outcome::kClosed;
  *out = std::move(socket);
  return Outcome::kDone;
}

// That many bytes.
Outcome receive(const Descriptor& socket, std::size_t size, Clock::time_point deadline, std::string* out) {
  while (out->size() < size) {
    if (!becomes_ready(socket, POLLIN, deadline)) return Outcome::kLate;
    char bytes[64];
    const ssize_t received = recv(socket.get(), bytes, std::min(sizeof bytes, size - out->size()), 0);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (received <= 0) return Outcome::kClosed;
    out->append(bytes, static_cast<std::size_t>(received));
  }
  return Outcome::kDone;
}

}  // namespace

std::optional<Descriptor> connect_to_server(const net::GuardedAddress& address, const std::string& server,
                                            Clock::time_point deadline) {
  const std::string place = net::to_string(address.endpoint);
  for (bool was_closed = false;;) {
    Descriptor socket;
    std::string welcome;
    Outcome outcome = open_with(address, {}, deadline, &socket);
    const int problem = errno;
    if (outcome == Outcome::kDone) outcome = receive(socket, kWelcome.size(), deadline, &welcome);
    switch (outcome) {
      case Outcome::kDone:
        if (welcome != kWelcome) return std::nullopt;
        return socket;
      case Outcome::kRefused:
        return std::nullopt;
      case Outcome::kLate:
        if (was_closed) throw Error(ErrorCode::kPeerLost, server + ", closes each connection at " + place);
        throw Error(ErrorCode::kTimeout, server + ", does not answer at " + place +
                                             "; is it stopped, or is a firewall between the machines?");
      case Outcome::kUnreachable:
        throw Error(ErrorCode::kPeerLost, server + ", cannot be reached at " + place + ": " + std::strerror(problem));
      case Outcome::kClosed:  // it is about to end, or so many connect that it makes room: the next try shows it
        was_closed = true;
        std::this_thread::sleep_for(kTryAgain);
    }
  }
}

bool tell_server(const net::GuardedAddress& address, std::string_view request, Clock::time_point deadline) {
  std::string frame, answer;
  append_frame(frame, 1, request);
  Descriptor socket;
  return open_with(address, frame, deadline, &socket) == Outcome::kDone &&
         receive(socket, kWelcome.size() + 1, deadline, &answer) == Outcome::kDone;
}

}  // namespace tandem::requests
