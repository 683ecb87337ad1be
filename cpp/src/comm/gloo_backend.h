// LibTorch's Gloo backend, and on which of this machine's addresses it listens.
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <memory>

#include "comm/group_state.h"
#include "tandem/store.h"

namespace tandem {

// On which of this machine's addresses Gloo listens. Made before the peers are known, so that its endpoints can be
// told to them.
class GlooDevices {
 public:
  // By the names of network interfaces, comma-separated. Throws Error (kNotFound) naming those that exist.
  static GlooDevices for_interfaces(const std::string& names);
  static GlooDevices for_address(const std::string& address);
  // The address to which this machine's name resolves.
  static GlooDevices for_this_host();

  const std::vector<net::Endpoint>& endpoints() const { return endpoints_; }

 private:
  friend c10::intrusive_ptr<c10d::Backend> make_gloo_backend(const GroupState&, const Store&, const GlooDevices&,
                                                             std::chrono::milliseconds);
  template <typename Make>
  void add(Make&& make);

  std::vector<std::shared_ptr<::gloo::transport::Device>> devices_;
  std::vector<net::Endpoint> endpoints_;
};

// Connects to all peers. Blocks.
c10::intrusive_ptr<c10d::Backend> make_gloo_backend(const GroupState& state, const Store& store,
                                                    const GlooDevices& devices, std::chrono::milliseconds timeout);

}  // namespace tandem
