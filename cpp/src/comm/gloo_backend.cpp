#include "comm/gloo_backend.h"

#include <net/if.h>

#include <algorithm>
#include <sstream>

#include "tandem/error.h"

namespace tandem {
namespace {

c10::intrusive_ptr<c10d::ProcessGroupGloo::Options> options_of(
    const std::vector<std::shared_ptr<::gloo::transport::Device>>& devices, std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  options->devices = devices;
  options->threads = static_cast<int>(2 * devices.size());  // as PyTorch has it
  return options;
}

std::string interface_names() {
  std::string names;
  struct if_nameindex* list = if_nameindex();
  for (auto* entry = list; entry && entry->if_index != 0; ++entry) {
    names += (names.empty() ? "" : ", ") + std::string(entry->if_name);
  }
  if (list) if_freenameindex(list);
  return names;
}

// Gloo writes messages to sockets on the thread that sends or receives. Where the peer is gone it raises SIGPIPE there,
// and may then wait for a peer that will never answer.
class GlooWithoutSigpipe final : public c10d::ProcessGroupGloo {
 public:
  using c10d::ProcessGroupGloo::ProcessGroupGloo;

  c10::intrusive_ptr<c10d::Work> send(std::vector<at::Tensor>& tensors, int rank, int tag) override {
    return guarded([&] { return ProcessGroupGloo::send(tensors, rank, tag); });
  }
  c10::intrusive_ptr<c10d::Work> recv(std::vector<at::Tensor>& tensors, int rank, int tag) override {
    return guarded([&] { return ProcessGroupGloo::recv(tensors, rank, tag); });
  }
  c10::intrusive_ptr<c10d::Work> recvAnysource(std::vector<at::Tensor>& tensors, int tag) override {
    return guarded([&] { return ProcessGroupGloo::recvAnysource(tensors, tag); });
  }

 private:
  template <typename Issue>
  static c10::intrusive_ptr<c10d::Work> guarded(Issue&& issue) {
    const net::SigpipeBlocked blocked;
    auto work = issue();
    if (blocked.was_raised()) throw Error(ErrorCode::kPeerLost, "Connection closed by peer (Broken pipe)");
    return work;
  }
};

}  // namespace

// Gloo does not tell its port, but it listens from the moment that a device is made.
template <typename Make>
void GlooDevices::add(Make&& make) {
  static std::mutex one_at_a_time;
  std::lock_guard<std::mutex> lock(one_at_a_time);
  const auto before = net::listening_endpoints();
  net::SigpipeBlocked blocked;
  devices_.push_back(make());
  for (const auto& endpoint : net::listening_endpoints()) {
    if (std::find(before.begin(), before.end(), endpoint) == before.end()) endpoints_.push_back(endpoint);
  }
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
    } catch (const std::exception& error) {
      throw Error(ErrorCode::kIo, "cannot use the network interface '" + name + "': " + error.what());
    }
  }
  if (result.devices_.empty()) throw Error(ErrorCode::kInvalidArgument, "'" + names + "' names no network interface");
  return result;
}

GlooDevices GlooDevices::for_address(const std::string& address) {
  GlooDevices result;
  try {
    result.add([&] { return c10d::ProcessGroupGloo::createDeviceForHostname(address); });
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

c10::intrusive_ptr<c10d::Backend> make_gloo_backend(const GroupState& state, const Store& store,
                                                    const GlooDevices& devices, std::chrono::milliseconds timeout) {
  return c10::make_intrusive<GlooWithoutSigpipe>(store, state.rank(), state.size(),
                                                 options_of(devices.devices_, timeout));
}

}  // namespace tandem
