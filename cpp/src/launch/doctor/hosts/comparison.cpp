#include "launch/doctor/hosts/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "comm/sockets.h"

namespace tandem::doctor {
namespace {

constexpr double kMostApart = 1;  // seconds

std::string seconds_text(double seconds) {
  constexpr double kShown = 0.005;
  char text[32];
  std::snprintf(text, sizeof text, "%+.2f s", std::abs(seconds) < kShown ? 0 : seconds);
  return text;
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

bool is_one_machine(const HostState& a, const HostState& b) {
  return !a.fact("identity").empty() && a.fact("identity") == b.fact("identity");
}

// Interfaces on which others might reach a host.
std::string choices_of(const HostState& host) {
  std::string text;
  for (const Listening& one : host.listeners) {
    if (one.what != "other") continue;
    text += (text.empty() ? "" : " or ") + one.interface + " (" + one.address + ")";
  }
  return text.empty() ? "it has no other interface" : "set another by -x GLOO_SOCKET_IFNAME=NAME: " + text;
}

std::string how_many(int problems, int warnings) {
  return describe({problems, warnings});
}

}  // namespace

std::string HostState::fact(const std::string& what) const {
  if (!report) return "";
  const auto found = report->facts.find(what);
  return found == report->facts.end() ? "" : found->second;
}

std::vector<HostFinding> compare_versions(const std::vector<HostState>& hosts) {
  std::vector<HostFinding> found;
  for (const auto& [fact, topic] :
       {std::pair("tandem", "tandem"), {"libtandem", "libtandem"}, {"core", "core"}, {"libtorch", "LibTorch"}}) {
    std::map<std::string, std::vector<std::size_t>> of_value;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      if (const std::string value = hosts[i].fact(fact); !value.empty()) of_value[value].push_back(i);
    }
    if (of_value.size() < 2) continue;
    HostFinding one;
    std::string text;
    for (const auto& [value, places] : of_value) {
      std::vector<std::string> names;
      for (const std::size_t place : places) names.push_back(hosts[place].name);
      one.hosts.insert(one.hosts.end(), places.begin(), places.end());
      text += (text.empty() ? "" : "; ") + value + " on " + listed(names);
    }
    one.finding = problem(topic, "not the same: " + text, "install the same on all");
    found.push_back(std::move(one));
  }
  return found;
}

std::vector<HostFinding> compare_clocks(const std::vector<HostState>& hosts) {
  std::vector<HostFinding> found;
  const auto first = std::ranges::find_if(hosts, [](const HostState& one) { return one.clock_error >= 0; });
  for (auto one = first; one != hosts.end(); ++one) {
    const double apart = one->clock - first->clock;
    if (one->clock_error < 0 || std::abs(apart) - one->clock_error - first->clock_error <= kMostApart) continue;
    const auto place = [&](auto at) { return static_cast<std::size_t>(at - hosts.begin()); };
    found.push_back({problem("clocks", one->name + "'s is " + seconds_text(apart) + " from " + first->name + "'s",
                             "have both follow a time server (timedatectl set-ntp true): which failure was the first "
                             "is told by clocks"),
                     {place(first), place(one)}});
  }
  return found;
}

std::vector<HostFinding> compare_addresses(const std::vector<HostState>& hosts) {
  std::vector<HostFinding> found;
  bool are_several = false;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    for (std::size_t k = i + 1; k < hosts.size(); ++k) {
      if (!hosts[i].takes_part() || !hosts[k].takes_part()) continue;
      if (is_one_machine(hosts[i], hosts[k])) {
        found.push_back({warning("hosts", hosts[i].name + " and " + hosts[k].name + " are one machine",
                                 "name it once, with its slots"),
                         {i, k}});
        continue;
      }
      are_several = true;
      const std::string& address = hosts[i].gloo_address;
      if (address.empty() || address != hosts[k].gloo_address || hosts[i].gloo_is_loopback) continue;
      found.push_back({problem("interface",
                               hosts[i].name + " and " + hosts[k].name + " both listen at " + address + " (" +
                                   hosts[i].gloo_interface + ", by " + hosts[i].gloo_because +
                                   "), each an address of its own machine alone",
                               choices_of(hosts[i])),
                       {i, k}});
    }
  }
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const HostState& host = hosts[i];
    if (!host.takes_part()) continue;
    if (!host.gloo_error.empty()) {
      found.push_back({problem("interface", host.name + ": " + host.gloo_error, choices_of(host)), {i}});
    } else if (are_several && host.gloo_is_loopback) {
      found.push_back({problem("interface",
                               host.name + " listens at " + host.gloo_address + " (" + host.gloo_interface + ", by " +
                                   host.gloo_because + "), a loopback address, which other machines do not reach",
                               choices_of(host)),
                       {i}});
    } else if (are_several && host.gloo_is_of_containers) {
      found.push_back({warning("interface",
                               host.name + " listens at " + host.gloo_address + " (" + host.gloo_interface + ", by " +
                                   host.gloo_because + "), an interface of containers by its name",
                               choices_of(host)),
                       {i}});
    }
  }
  return found;
}

std::vector<HostFinding> compare_names(const std::vector<HostState>& hosts) {
  std::vector<HostFinding> found;
  const auto host_of = [](const std::string& name) { return name.substr(name.rfind('@') + 1); };
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    for (std::size_t k = 0; k < hosts.size(); ++k) {
      const auto known = hosts[i].names.find(host_of(hosts[k].name));
      if (i == k || known == hosts[i].names.end() || !hosts[k].takes_part()) continue;
      const std::string who = hosts[i].name + " → " + hosts[k].name;
      if (known->second.empty()) {
        found.push_back({warning(who, hosts[i].name + " does not know the name " + known->first,
                                 "launches by -H use addresses; for --rdzv-endpoint and --master-addr give one, or put "
                                 "the name into /etc/hosts or DNS"),
                         {i, k}});
        continue;
      }
      std::set<std::string> own = {hosts[k].gloo_address};
      for (const Listening& one : hosts[k].listeners) own.insert(one.address);
      const bool is_right = std::ranges::any_of(known->second, [&](const std::string& address) {
        return own.contains(address) || (net::is_loopback(address) && is_one_machine(hosts[i], hosts[k]));
      });
      if (is_right) continue;
      found.push_back({warning(who,
                               hosts[i].name + " takes " + known->first + " for " + listed(known->second) +
                                   ", which is no address of it",
                               "mend /etc/hosts or DNS there"),
                       {i, k}});
    }
  }
  return found;
}

std::vector<std::vector<std::string>> rows_of(const std::vector<HostState>& hosts,
                                              const std::vector<HostFinding>& between) {
  std::vector<std::vector<std::string>> rows = {
      {"host", "reached", "tandem", "core", "LibTorch", "address", "clock", "verdict"}};
  const auto or_none = [](const std::string& text) { return text.empty() ? std::string("-") : text; };
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const HostState& host = hosts[i];
    Count counted = host.report ? count(host.report->findings) : Count{};
    for (const HostFinding& one : between) {
      if (std::ranges::find(one.hosts, i) == one.hosts.end()) continue;
      const Count more = count({one.finding});
      counted.problems += more.problems;
      counted.warnings += more.warnings;
    }
    const bool is_well = counted.problems + counted.warnings == 0;
    const std::string address = host.gloo_address.empty() ? "" : host.gloo_address + " (" + host.gloo_interface + ")";
    const std::string core = host.fact("core");
    const std::size_t dash = core.find('-'), dot = core.rfind(".so");
    rows.push_back(
        {host.name, host.report ? "yes" : "no", or_none(host.fact("tandem")),
         or_none(dash == std::string::npos || dot == std::string::npos ? core : core.substr(dash + 1, dot - dash - 1)),
         or_none(host.fact("libtorch")), or_none(address), host.clock_error < 0 ? "-" : seconds_text(host.clock),
         is_well ? "ok" : how_many(counted.problems, counted.warnings)});
  }
  return rows;
}

void from_json(const nlohmann::json& json, Listening& listening) {
  listening.what = json.at("what").get<std::string>();
  listening.interface = json.at("interface").get<std::string>();
  listening.address = json.at("address").get<std::string>();
  listening.port = json.at("port").get<std::uint16_t>();
  listening.error = json.value("error", "");
}

}  // namespace tandem::doctor
