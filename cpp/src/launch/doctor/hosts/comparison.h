// What the doctor learns of several hosts, and what of it does not go together.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "launch/doctor/finding.h"

namespace tandem::doctor {

// An address at which a host's agent listens.
struct Listening {
  std::string what;  // "meet": where agents meet; "store", "gloo": where ranks connect; "other": an address that none
                     // of these has
  std::string interface, address;
  std::uint16_t port = 0;
  std::string error;  // why it does not
};

struct HostState {
  std::string name;     // as the user calls it
  std::string failure;  // why it takes no part
  std::optional<Report> report;
  double clock = 0,
         clock_error = -1;  // seconds that its clock is ahead of this machine's, give or take; below 0: not known
  std::string gloo_interface, gloo_address, gloo_because, gloo_error;
  bool gloo_is_loopback = false, gloo_is_of_containers = false;
  std::vector<Listening> listeners;
  std::string ports;  // that its system chooses: "32768 to 60999"
  std::map<std::string, std::vector<std::string>>
      names;  // of other hosts, to addresses; none where it does not resolve

  bool takes_part() const { return failure.empty(); }
  std::string fact(const std::string& what) const;
};

// A finding that is about these hosts, by their places in the list.
struct HostFinding {
  Finding finding;
  std::vector<std::size_t> hosts;
};

// Releases of tandem, libtandem, the core and LibTorch that are not the same everywhere; each says who has which.
std::vector<HostFinding> compare_versions(const std::vector<HostState>& hosts);
// Clocks that are more than a second apart.
std::vector<HostFinding> compare_clocks(const std::vector<HostState>& hosts);
// Hosts that are one machine; addresses that two machines have; interfaces that others cannot reach by their kind.
std::vector<HostFinding> compare_addresses(const std::vector<HostState>& hosts);
// Names of hosts that others do not know, or take for another address.
std::vector<HostFinding> compare_names(const std::vector<HostState>& hosts);

// The summary: a row for each host, under a header.
std::vector<std::vector<std::string>> rows_of(const std::vector<HostState>& hosts,
                                              const std::vector<HostFinding>& between);

void from_json(const nlohmann::json& json, Listening& listening);

}  // namespace tandem::doctor
