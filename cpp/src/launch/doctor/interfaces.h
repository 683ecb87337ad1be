// This machine's network interfaces, and on which of them ranks are reached.
#pragma once

#include <string>
#include <vector>

#include "launch/doctor/finding.h"
#include "launch/doctor/process.h"

namespace tandem::doctor {

struct Interface {
  std::string name;
  std::string address;  // numeric
  bool is_up = false;
  bool is_loopback = false;
};

// One for each address, IPv4 and IPv6 (but link-local), in the system's order.
std::vector<Interface> interfaces();

// That which has the address; "?" where none has.
Interface interface_of(const std::string& address);

// Whether it is one of a container engine's or a hypervisor's, by its name: other machines do not reach its addresses.
bool is_of_containers(const std::string& name);

// Where Gloo of a rank here listens, as the group's backend chooses it.
struct GlooPlaces {
  std::vector<Interface> at;  // one for each name of GLOO_SOCKET_IFNAME; none where there is an error
  std::string because;        // "GLOO_SOCKET_IFNAME", "the way to 10.0.0.1"
  std::string error;          // why there is none
};
// `towards`: the address of the first machine, where the ranks' store is; "": all ranks are here.
GlooPlaces gloo_places(const std::string& towards, Interruption& interruption);

// "eth0, 10.0.0.2; eth1, 10.0.1.2"
std::string to_string(const std::vector<Interface>& all);

Finding examine_network(Interruption& interruption);

}  // namespace tandem::doctor
