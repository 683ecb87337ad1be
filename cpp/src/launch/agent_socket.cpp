#include "launch/agent_socket.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tandem/error.h"

namespace tandem::launch {

AgentSocket::AgentSocket(const std::string& folder) {
  // A program may change its working directory before it comes here.
  const std::string beside_logs = (std::filesystem::absolute(folder) / "agent").string();
  try {
    server_.emplace(beside_logs);
    return;
  } catch (const Error&) {  // a file system for logs need not have sockets
  }
  std::string pattern = (std::filesystem::temp_directory_path() / "tandem_XXXXXX").string();
  try {
    if (!mkdtemp(pattern.data()))
      throw Error(ErrorCode::kIo, "cannot make a folder there: " + std::string(std::strerror(errno)));
    own_folder_ = pattern;
    server_.emplace(pattern + "/agent");
  } catch (const Error& error) {
    why_not_ = "no socket can be made, neither at " + beside_logs + " nor at " + pattern + "/agent: " + error.what();
  }
}

AgentSocket::~AgentSocket() {
  server_.reset();
  std::error_code ignored;
  if (!own_folder_.empty()) std::filesystem::remove(own_folder_, ignored);
}

}  // namespace tandem::launch
