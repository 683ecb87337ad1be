#include "membership/agent_server.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "membership/socket.h"
#include "tandem/error.h"

namespace tandem::membership {
namespace {

constexpr std::size_t kMostUnsent = 1000;       // messages to one worker
constexpr std::size_t kMostConnections = 4096;  // of who has not said yet which process it is, too

}  // namespace

AgentServer::AgentServer(std::string path) : path_(std::move(path)), listener_(listen_at(path_)) {}

AgentServer::~AgentServer() { unlink(path_.c_str()); }

void AgentServer::add_polled(std::vector<pollfd>* polled) const {
  polled->push_back({listener_.get(), POLLIN, 0});
  for (const Connection& each : connections_) {
    const int wanted = POLLIN | (each.unsent.empty() ? 0 : POLLOUT);
    polled->push_back({each.socket.get(), static_cast<short>(wanted), 0});
  }
}

void AgentServer::serve(const Handlers& handlers) {
  while (connections_.size() < kMostConnections) {
    std::optional<Descriptor> socket = accept_own(listener_);
    if (!socket) break;
    connections_.emplace_back().socket = std::move(*socket);
  }
  std::string bytes;
  for (auto connection = connections_.begin(); connection != connections_.end();) {
    std::string reason = "has closed its connection to the launcher";
    write(*connection);
    while (!connection->broken) {
      const Received got = receive(connection->socket, &bytes);
      if (got == Received::kNothing) break;
      if (got == Received::kEnd) {
        connection->broken = true;
        break;
      }
      try {
        const Message message = decode(bytes);
        if (const auto* hello = std::get_if<Hello>(&message); hello && connection->member == kUnknown) {
          if (!handlers.knows(hello->member)) throw Error(ErrorCode::kInvalidArgument, "comes from no worker");
          connection->member = hello->member;
        }
        if (connection->member == kUnknown) throw Error(ErrorCode::kInvalidArgument, "does not say whose it is");
        connection->waits |= std::holds_alternative<Join>(message);
        connection->leaves |= std::holds_alternative<Leave>(message);
        handlers.received(connection->member, message);
      } catch (const Error& error) {
        reason = std::string("has sent the launcher what it does not understand: ") + error.what();
        connection->broken = true;
      }
    }
    if (!connection->broken) {
      ++connection;
      continue;
    }
    const Member member = connection->member;
    connection = connections_.erase(connection);
    if (member != kUnknown) handlers.ended(member, reason);
  }
}

void AgentServer::send(Member member, const Message& message) {
  const auto found = std::ranges::find(connections_, member, &Connection::member);
  if (found == connections_.end()) return;
  if (std::holds_alternative<Form>(message)) found->waits = false;
  found->unsent.push_back(encode(message));
  write(*found);
  if (found->unsent.size() > kMostUnsent) found->broken = true;
}

void AgentServer::send_at_end(const std::vector<std::pair<Member, Message>>& messages) {
  for (const auto& [member, message] : messages) {
    if (std::holds_alternative<Permitted>(message) || std::holds_alternative<Pause>(message) || std::holds_alternative<Go>(message)) {
      send(member, message);
    }
  }
  for (Connection& each : connections_) {
    if (!each.leaves || !std::exchange(each.waits, false)) continue;
    send(each.member, Released{});
  }
}

void AgentServer::write(Connection& connection) {
  while (!connection.unsent.empty() && !connection.broken) {
    const Sent sent = membership::send(connection.socket, connection.unsent.front());
    if (sent == Sent::kFull) return;
    if (sent == Sent::kEnd) {  // what the other side said before is still to be read
      connection.unsent.clear();
    } else {
      connection.unsent.pop_front();
    }
  }
}

}  // namespace tandem::membership
