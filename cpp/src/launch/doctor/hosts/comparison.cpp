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

std::string listed(std::vector<std::string> words) {
  constexpr std::size_t kMostListed = 8;
  if (words.size() > kMostListed) {
    words.push_back(std::to_string(words.size() - kMostListed + 1) + " more");
    words.erase(words.begin() + kMostListed - 1, words.end() - 1);
  }
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

bool is_one_machine(const HostState& a, const HostState& b) {
  return !a.fact("identity").empty() && a.fact("identity") == b.fact("identity");
}

// Without the user.
std::string name_of(const HostState& host) {
  return host.name.substr(host.name.rfind('@') + 1);
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
  if (!report) return what == "tandem" ? release : "";
  const auto found = report->facts.find(what);
  return found == report->facts.end() ? "" : found->second;
}

bool are_several_machines(const std::vector<HostState>& hosts) {
  const auto first = std::ranges::find_if(hosts, &HostState::takes_part);
  return std::ranges::any_of(
      hosts, [&](const HostState& one) { return one.takes_part() && &one != &*first && !is_one_machine(one, *first); });
}

std::vector<HostFinding> compare_versions(const std::vector<HostState>& hosts) {
  struct Compared {
    const char *fact, *topic;
    Verdict verdict;
    const char* advice;
  };
  constexpr const char* kTheSame = "install the same on all";
  const Compared all[] = {
      {"tandem", "tandem", Verdict::kProblem, kTheSame},
      {"libtandem", "libtandem", Verdict::kProblem, kTheSame},
      {"core", "core", Verdict::kProblem, kTheSame},
      {"libtorch", "LibTorch", Verdict::kProblem, kTheSame},
      {"build", "LibTorch", Verdict::kWarning, "ranks of one job are on GPUs or on CPUs: install one build on all"},
      {"gpus", "GPUs", Verdict::kWarning, "HOST:SLOTS says how many ranks each gets"}};
  std::vector<HostFinding> found;
  for (const Compared& what : all) {
    std::map<std::string, std::vector<std::size_t>> of_value;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      if (const std::string value = hosts[i].fact(what.fact); !value.empty()) of_value[value].push_back(i);
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
    one.finding = {what.topic, what.verdict, "not the same: " + text, what.advice};
    found.push_back(std::move(one));
  }
  const auto has_gpus = [](const HostState& one) { return !one.fact("gpus").empty() && one.fact("gpus") != "0"; };
  if (std::ranges::any_of(hosts, has_gpus)) {
    found.push_back({ok("nccl", "the interfaces on which it connects are its own choice, which is not looked at here "
                                "(NCCL_SOCKET_IFNAME names one, NCCL_DEBUG=INFO tells)"),
                     {}});
  }
  return found;
}

std::vector<HostFinding> compare_clocks(const std::vector<HostState>& hosts) {
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (hosts[i].clock_error >= 0) known.push_back(i);
  }
  if (known.empty()) return {};
  const auto [low, high] =
      std::ranges::minmax_element(known, {}, [&](std::size_t i) { return hosts[i].clock; });
  const HostState &behind = hosts[*low], &ahead = hosts[*high];
  const double apart = ahead.clock - behind.clock;
  if (apart - ahead.clock_error - behind.clock_error <= kMostApart) return {};
  return {{warning("clocks", ahead.name + "'s is " + seconds_text(apart) + " from " + behind.name + "'s",
                   "have both follow a time server (timedatectl set-ntp true): which failure was the first is told by "
                   "clocks"),
           {*low, *high}}};
}

std::vector<HostFinding> compare_addresses(const std::vector<HostState>& hosts) {
  std::vector<HostFinding> found;
  const bool are_several = are_several_machines(hosts);
  const auto listens = [](const HostState& host, const GlooPlace& at) {
    return " at " + at.address + " (" + at.interface + ", by " + host.gloo_because + ")";
  };
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    for (std::size_t k = i + 1; k < hosts.size(); ++k) {
      if (!hosts[i].takes_part() || !hosts[k].takes_part()) continue;
      if (is_one_machine(hosts[i], hosts[k])) {
        found.push_back({warning("hosts", hosts[i].name + " and " + hosts[k].name + " are one machine",
                                 "name it once, with its slots"),
                         {i, k}});
        continue;
      }
      for (const GlooPlace& at : hosts[i].gloo) {
        const auto same = std::ranges::find(hosts[k].gloo, at.address, &GlooPlace::address);
        if (at.is_loopback || same == hosts[k].gloo.end()) continue;
        found.push_back({problem("interface",
                                 hosts[i].name + " and " + hosts[k].name + " both listen" + listens(hosts[i], at) +
                                     ", each an address of its own machine alone",
                                 choices_of(hosts[i])),
                         {i, k}});
      }
    }
  }
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const HostState& host = hosts[i];
    if (!host.takes_part()) continue;
    if (!host.gloo_error.empty()) {
      found.push_back({problem("interface", host.name + ": " + host.gloo_error, choices_of(host)), {i}});
    }
    for (const GlooPlace& at : host.gloo) {
      if (!are_several) break;
      const std::string text = host.name + " listens" + listens(host, at);
      if (at.is_loopback) {
        found.push_back({problem("interface", text + ", a loopback address, which other machines do not reach",
                                 choices_of(host)),
                         {i}});
      } else if (at.is_of_containers) {
        found.push_back(
            {warning("interface", text + ", an interface of containers by its name", choices_of(host)), {i}});
      }
    }
  }
  return found;
}

std::vector<HostFinding> compare_names(const std::vector<HostState>& hosts) {
  struct Who {
    std::vector<std::string> names;
    std::vector<std::size_t> places;
    std::string error;  // of the first
  };
  std::map<std::pair<std::size_t, std::vector<std::string>>, Who> who_err;  // in whose name, with which addresses
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    for (std::size_t k = 0; k < hosts.size(); ++k) {
      const auto known = hosts[i].names.find(name_of(hosts[k]));
      if (i == k || known == hosts[i].names.end() || !hosts[k].takes_part()) continue;
      std::set<std::string> own;
      for (const GlooPlace& one : hosts[k].gloo) own.insert(one.address);
      for (const Listening& one : hosts[k].listeners) own.insert(one.address);
      const bool is_right = std::ranges::any_of(known->second.addresses, [&](const std::string& address) {
        return own.contains(address) || (net::is_loopback(address) && is_one_machine(hosts[i], hosts[k]));
      });
      if (is_right) continue;
      Who& who = who_err[{k, known->second.addresses}];
      if (who.names.empty()) who.error = known->second.error;
      who.names.push_back(hosts[i].name);
      who.places.push_back(i);
    }
  }
  std::vector<HostFinding> found;
  for (auto& [what, who] : who_err) {
    const auto& [place, addresses] = what;
    const std::string name = name_of(hosts[place]), many = who.names.size() == 1 ? "s" : "";
    who.places.push_back(place);
    Finding one = warning("name", listed(who.names), "");
    if (addresses.empty()) {
      one.text += std::string(many.empty() ? " do" : " does") + " not know the name " + name + ": " + who.error;
      one.advice =
          "launches by -H use addresses; for --rdzv-endpoint and --master-addr give one, or put the name into "
          "/etc/hosts or DNS";
    } else {
      one.text += " take" + many + " " + name + " for " + listed(addresses) + ", which is no address of it";
      one.advice = "mend /etc/hosts or DNS there";
    }
    found.push_back({one, who.places});
  }
  return found;
}

std::vector<HostFinding> compare_meeting(const std::vector<HostState>& hosts, const std::string& name,
                                         const std::string& met) {
  std::vector<HostFinding> found;
  const std::string advice = "give an address that all reach: --rdzv-endpoint ADDRESS:PORT";
  if (net::is_loopback(met) && are_several_machines(hosts)) {
    const std::string who = hosts.front().name;
    const std::string taken = name == met ? "agents are to meet at " + met : who + " takes " + name + " for " + met;
    return {{problem("address", taken + ", a loopback address, which other machines do not reach", advice), {0}}};
  }
  for (std::size_t i = 1; i < hosts.size(); ++i) {
    const auto known = hosts[i].names.find(name);
    if (!hosts[i].takes_part() || known == hosts[i].names.end()) continue;
    const std::vector<std::string>& addresses = known->second.addresses;
    if (std::ranges::find(addresses, met) != addresses.end()) continue;
    const std::string text =
        hosts[i].name + (addresses.empty() ? " does not know " + name + ": " + known->second.error
                                           : " takes " + name + " for " + listed(addresses) + ", but " +
                                                 hosts.front().name + " listens at " + met);
    found.push_back({problem("address", text, advice), {0, i}});
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
    std::string address;
    for (const GlooPlace& at : host.gloo)
      address += (address.empty() ? "" : ", ") + at.address + " (" + at.interface + ")";
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

void from_json(const nlohmann::json& json, GlooPlace& place) {
  place.interface = json.at("interface").get<std::string>();
  place.address = json.at("address").get<std::string>();
  place.is_loopback = json.at("loopback").get<bool>();
  place.is_of_containers = json.at("containers").get<bool>();
}

void from_json(const nlohmann::json& json, KnownName& name) {
  name.addresses = json.value("addresses", std::vector<std::string>());
  name.error = json.value("error", "");
}

}  // namespace tandem::doctor
