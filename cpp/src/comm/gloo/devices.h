// Where this process listens for Gloo's connections.
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <memory>
#include <string>
#include <vector>

#include "comm/sockets.h"

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
  const std::vector<std::shared_ptr<::gloo::transport::Device>>& transports() const { return transports_; }

 private:
  template <typename Make>
  void add(Make&& make);

  std::vector<std::shared_ptr<::gloo::transport::Device>> transports_;
  std::vector<net::Endpoint> endpoints_;
};

}  // namespace tandem
