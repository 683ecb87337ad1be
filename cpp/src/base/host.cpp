#include "base/host.h"

#include <unistd.h>

#include <fstream>

namespace tandem {

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] ? name : "localhost";
}

std::string boot_id() {
  std::string id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id") >> std::ws, id);
  return id;
}

std::string host_identity() {
  char network[64] = {};
  const ssize_t size = ::readlink("/proc/self/ns/net", network, sizeof network - 1);
  return boot_id() + "/" + std::string(network, size > 0 ? static_cast<std::size_t>(size) : 0);
}

}  // namespace tandem
