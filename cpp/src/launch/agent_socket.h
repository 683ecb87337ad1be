// The socket at which workers reach their agent.
#pragma once

#include <optional>
#include <string>

#include "membership/agent_server.h"

namespace tandem::launch {

class AgentSocket {
 public:
  // Beside the logs in `folder`, or where that file system has no sockets in a folder of its own, which goes with this.
  explicit AgentSocket(const std::string& folder);
  ~AgentSocket();
  AgentSocket(const AgentSocket&) = delete;
  AgentSocket& operator=(const AgentSocket&) = delete;

  // Nothing where none can be made.
  std::optional<membership::AgentServer>& server() { return server_; }
  const std::string& why_not() const { return why_not_; }

 private:
  std::optional<membership::AgentServer> server_;
  std::string own_folder_;
  std::string why_not_;
};

}  // namespace tandem::launch
