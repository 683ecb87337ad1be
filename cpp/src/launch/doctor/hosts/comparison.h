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

// Where its ranks' Gloo would listen.
struct GlooPlace {
  std::string interface, address;
  bool is_loopback = false, is_of_containers = false;
};

// What a host knows of a name.
struct KnownName {
  std::vector<std::string> addresses;
  std::string error;  // why there are none
};

struct HostState {
  std::string name;     // as the user calls it
  std::string release;  // of the tool there
  std::string failure;  // why it takes no part
  std::optional<Report> report;
  double clock = 0,
         clock_error = -1;  // seconds that its clock is ahead of this machine's, give or take; below 0: not known
  std::vector<GlooPlace> gloo;
  std::string gloo_because, gloo_error;
  std::vector<Listening> listeners;
  std::string ports;  // that its system chooses: "32768 to 60999"
  std::map<std::string, KnownName> names;  // of other hosts, and of where the agents meet

  bool takes_part() const { return failure.empty(); }
  std::string fact(const std::string& what) const;
};

// A finding that is about these hosts, by their places in the list.
struct HostFinding {
  Finding finding;
  std::vector<std::size_t> hosts;
};

// Whether any two are not one machine.
bool are_several_machines(const std::vector<HostState>& hosts);
// Releases of tandem, libtandem, the core and LibTorch that are not the same everywhere, builds and numbers of GPUs;
// each says who has which.
std::vector<HostFinding> compare_versions(const std::vector<HostState>& hosts);
// Clocks that are more than a second apart: a launch works, but its reports of failures are harder to read.
std::vector<HostFinding> compare_clocks(const std::vector<HostState>& hosts);
// Hosts that are one machine; addresses that two machines have; interfaces that others cannot reach by their kind.
std::vector<HostFinding> compare_addresses(const std::vector<HostState>& hosts);
// Names of hosts that others do not know, or take for another address: one finding for all who err alike.
std::vector<HostFinding> compare_names(const std::vector<HostState>& hosts);
// Whether each host goes to where the first one's agent listens, which is `met`. `name`: as --rdzv-endpoint has it.
std::vector<HostFinding> compare_meeting(const std::vector<HostState>& hosts, const std::string& name,
                                         const std::string& met);

// The summary: a row for each host, under a header.
std::vector<std::vector<std::string>> rows_of(const std::vector<HostState>& hosts,
                                              const std::vector<HostFinding>& between);

void from_json(const nlohmann::json& json, Listening& listening);
void from_json(const nlohmann::json& json, GlooPlace& place);
void from_json(const nlohmann::json& json, KnownName& name);

}  // namespace tandem::doctor
