// Where the workers of this machine reach their agent.
#pragma once

#include <poll.h>

#include <deque>
#include <functional>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "membership/coordinator.h"

namespace tandem::membership {

// The environment's variables for workers: "PATH" of the socket, and the number of the process among all that were
// started.
inline constexpr const char* kAgentVariable = "TANDEM_AGENT";
inline constexpr const char* kMemberVariable = "TANDEM_MEMBER";

// Connections of workers, for a loop around poll(2). Never blocks: what a worker does not take yet waits here. Workers
// that send what is no message, or more than is reasonable unread, are cut off. Not thread-safe.
class AgentServer {
 public:
  // `path`: of the socket. Throws Error(kIo).
  explicit AgentServer(std::string path);
  // Removes the socket.
  ~AgentServer();
  AgentServer(const AgentServer&) = delete;
  AgentServer& operator=(const AgentServer&) = delete;

  const std::string& path() const { return path_; }

  // Adds what is to be polled.
  void add_polled(std::vector<pollfd>* polled) const;

  struct Handlers {
    std::function<bool(Member)> knows;  // whether it is a process of the job that has no connection yet
    std::function<void(Member, const Message&)> received;
    std::function<void(Member, const std::string& reason)> ended;
  };
  // Takes whatever there is.
  void serve(const Handlers& handlers);
  void send(Member member, const Message& message);
  // Instead, while the launch ends and no epoch will begin: who saves, or leaves between two steps, still hears what it waits
  // for, and who waits for an epoch and wants to leave is released. The rest is dropped.
  void send_at_end(const std::vector<std::pair<Member, Message>>& messages);

 private:
  static constexpr Member kUnknown = -1;
  struct Connection {
    Descriptor socket;
    Member member = kUnknown;
    std::deque<std::string> unsent;
    bool broken = false;
    bool waits = false;  // for an epoch
    bool leaves = false;
  };
  static void write(Connection& connection);

  std::string path_;
  Descriptor listener_;
  std::list<Connection> connections_;
};

}  // namespace tandem::membership
