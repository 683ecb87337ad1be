#include "comm/gloo/devices.h"

#include <net/if.h>

#include <algorithm>
#include <mutex>
#include <sstream>
#include <utility>

#include "tandem/error.h"

namespace tandem {
namespace {

std::string interface_names() {
  std::string names;
  struct if_nameindex* list = if_nameindex();
  for (auto* entry = list; entry && entry->if_index != 0; ++entry) {
    names += (names.empty() ? "" : ", ") + std::string(entry->if_name);
  }
  if (list) if_freenameindex(list);
  return names;
}

}  // namespace

// Gloo does not tell its port, but it listens from the moment that a device is made. So one of the listeners that are
// new then is Gloo's; when another thread of the program has started a server meanwhile there are several, and Gloo is
// asked for another device.
template <typename Make>
void GlooDevices::add(Make&& make) {
  static std::mutex one_at_a_time;
  constexpr int kTries = 200;
  std::lock_guard<std::mutex> lock(one_at_a_time);
  net::SigpipeBlocked blocked;
  for (int i = 0; i < kTries; ++i) {
    const auto before = net::listening_sockets();
    auto device = make();
    std::vector<net::Endpoint> found;
    for (const auto& socket : net::listening_sockets()) {
      const bool is_new =
          std::none_of(before.begin(), before.end(), [&](const auto& one) { return one.inode == socket.inode; });
      if (is_new) found.push_back(socket.endpoint);
    }
    if (found.empty()) throw Error(ErrorCode::kInternal, "/proc/self/fd does not show where Gloo listens");
    if (found.size() > 1) continue;
    transports_.push_back(std::move(device));
    endpoints_.push_back(found.front());
    return;
  }
  throw Error(ErrorCode::kIo, "cannot tell on which port Gloo listens: this program has started a server in each of " +
                                  std::to_string(kTries) + " tries; make the group before or after its servers");
}

GlooDevices GlooDevices::for_interfaces(const std::string& names) {
  GlooDevices result;
  std::istringstream list(names);
  std::string name;
  while (std::getline(list, name, ',')) {
    if (name.empty()) continue;
    if (if_nametoindex(name.c_str()) == 0) {
      throw Error(ErrorCode::kNotFound, "this machine has no network interface '" + name +
                                            "' (GLOO_SOCKET_IFNAME); it has " + interface_names());
    }
    try {
      result.add([&] { return c10d::ProcessGroupGloo::createDeviceForInterface(name); });
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw Error(ErrorCode::kIo, "cannot use the network interface '" + name + "': " + error.what());
    }
  }
  if (result.transports_.empty())
    throw Error(ErrorCode::kInvalidArgument, "'" + names + "' names no network interface");
  return result;
}

GlooDevices GlooDevices::for_address(const std::string& address) {
  GlooDevices result;
  try {
    result.add([&] { return c10d::ProcessGroupGloo::createDeviceForHostname(address); });
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kIo, "cannot listen for peers on " + address + ": " + error.what());
  }
  return result;
}

GlooDevices GlooDevices::for_this_host() {
  GlooDevices result;
  result.add([] { return c10d::ProcessGroupGloo::createDefaultDevice(); });
  return result;
}

}  // namespace tandem
