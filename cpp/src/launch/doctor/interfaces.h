// This machine's network interfaces, and on which of them ranks are reached.
#pragma once

#include <string>
#include <vector>

#include "launch/doctor/finding.h"

namespace tandem::doctor {

struct Interface {
  std::string name;
  std::string address;  // numeric
  bool is_up = false;
  bool is_loopback = false;
};

// One for each address, IPv4 and IPv6 (but link-local), in the system's order.
std::vector<Interface> interfaces();

// Whether it is one of a container engine's or a hypervisor's, by its name: other machines do not reach its addresses.
bool is_of_containers(const std::string& name);

// Where Gloo of a rank here listens, as the group's backend chooses it.
struct GlooAddress {
  Interface at;         // its address is "" where there is none
  std::string because;  // "GLOO_SOCKET_IFNAME", "the way to 10.0.0.1"
  std::string error;    // why there is none
};
// `towards`: the address of the first machine, where the ranks' store is; "": all ranks are here.
GlooAddress gloo_address(const std::string& towards);

// "eth0, 10.0.0.2"
std::string to_string(const Interface& one);

Finding examine_network();

}  // namespace tandem::doctor
