#include "launch/doctor/hosts/ways.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "comm/sockets.h"

namespace tandem::doctor {
namespace {

constexpr std::size_t kMostPairsTold = 12;

std::string place_of(const Listening& at) {
  return net::to_string({at.address, at.port});
}

std::string purpose_of(const std::string& what) {
  return what == "meet" ? "where agents meet" : what == "store" ? "for the ranks' store" : "for the ranks' connections";
}

Finding closed(const HostState& from, const HostState& to, const Way& way, const Way* open, double seconds) {
  const std::string topic = from.name + " → " + to.name;
  const std::string outcome =
      way.outcome + (way.outcome == "timed out" ? " after " + std::to_string(std::lround(seconds)) + " s" : "");
  std::string text = place_of(way.at) + " (" + way.at.interface + ", " + purpose_of(way.at.what) + "): " + outcome;
  if (open) {
    text += "; the wrong interface: " + to.name + " listens there by " + to.gloo_because + ", and is reached at " +
            open->at.address + " (" + open->at.interface + ")";
    return problem(topic, text, "-x GLOO_SOCKET_IFNAME=" + open->at.interface);
  }
  const bool is_blocked = way.outcome == "timed out";
  const std::string why = is_blocked ? "a firewall drops what comes, or no way leads there; " : "";
  if (way.at.what == "meet") {
    return problem(topic, text,
                   why + "open port " + std::to_string(way.at.port) + " of " + to.name +
                       " (a launch draws one from 29400 to 29999), or name an open one: --rdzv-endpoint " +
                       way.at.address + ":PORT");
  }
  return problem(topic, text,
                 why + "open " + to.name + "'s ports " + to.ports + " (net.ipv4.ip_local_port_range) to " + from.name +
                     ", or name another interface: -x GLOO_SOCKET_IFNAME=NAME");
}

}  // namespace

std::vector<Way> ways_between(const std::vector<HostState>& hosts) {
  std::vector<Way> ways;
  for (std::size_t from = 0; from < hosts.size(); ++from) {
    for (std::size_t to = 0; to < hosts.size(); ++to) {
      if (from == to || !hosts[from].takes_part() || !hosts[to].takes_part()) continue;
      for (const Listening& one : hosts[to].listeners) {
        if (one.what != "other" && one.error.empty()) ways.push_back({from, to, one});
      }
    }
  }
  return ways;
}

std::vector<Way> other_ways(const std::vector<HostState>& hosts, const std::vector<Way>& tried) {
  std::vector<Way> ways;
  for (const Way& way : tried) {
    if (way.outcome.empty() || way.at.what != "gloo") continue;
    for (const Listening& one : hosts[way.to].listeners) {
      if (one.what == "other" && one.error.empty()) ways.push_back({way.from, way.to, one});
    }
  }
  return ways;
}

std::vector<HostFinding> judge(const std::vector<HostState>& hosts, const std::vector<Way>& ways,
                               const std::vector<Way>& others, double seconds, bool port_is_drawn) {
  std::vector<HostFinding> found, open_ones, closed_ones;
  for (std::size_t to = 0; to < hosts.size(); ++to) {
    for (const Listening& one : hosts[to].listeners) {
      if (one.error.empty() || one.what == "other") continue;
      const bool meets = one.what == "meet";
      found.push_back({problem("port", hosts[to].name + " cannot listen at " + place_of(one) + ": " + one.error,
                               meets ? "choose another by --rdzv-endpoint ADDRESS:PORT" : ""),
                       {to}});
    }
  }
  for (std::size_t from = 0; from < hosts.size(); ++from) {
    for (std::size_t to = 0; to < hosts.size(); ++to) {
      std::string open_places;
      bool is_closed = false;
      for (const Way& way : ways) {
        if (way.from != from || way.to != to) continue;
        if (way.outcome.empty()) {
          open_places += (open_places.empty() ? "" : ", ") + place_of(way.at) + " (" + way.at.interface + ", " +
                         purpose_of(way.at.what) +
                         (port_is_drawn && way.at.what == "meet" ? "; each launch draws another port" : "") + ")";
          continue;
        }
        is_closed = true;
        // To another interface; of those that GLOO_SOCKET_IFNAME names, too.
        const Way* better = nullptr;
        for (const std::vector<Way>* tried : {&others, &ways}) {
          for (const Way& one : *tried) {
            const bool is_open = one.from == from && one.to == to && one.outcome.empty();
            const bool is_of_ranks = way.at.what == "gloo" && one.at.what != "meet" && one.at.what != "store";
            if (!better && is_open && is_of_ranks) better = &one;
          }
        }
        closed_ones.push_back({closed(hosts[from], hosts[to], way, better, seconds), {from, to}});
      }
      if (!is_closed && !open_places.empty()) {
        open_ones.push_back({ok(hosts[from].name + " → " + hosts[to].name, open_places), {from, to}});
      }
    }
  }
  if (closed_ones.size() > kMostPairsTold) {
    HostFinding others_closed;
    std::set<std::size_t> whose;
    for (std::size_t i = kMostPairsTold; i < closed_ones.size(); ++i)
      whose.insert(closed_ones[i].hosts.begin(), closed_ones[i].hosts.end());
    others_closed.hosts.assign(whose.begin(), whose.end());
    others_closed.finding =
        problem("ways", std::to_string(closed_ones.size() - kMostPairsTold) + " more are closed", "");
    closed_ones.resize(kMostPairsTold);
    closed_ones.push_back(std::move(others_closed));
  }
  found.insert(found.end(), closed_ones.begin(), closed_ones.end());
  if (open_ones.size() <= kMostPairsTold) {
    found.insert(found.end(), open_ones.begin(), open_ones.end());
  } else {
    found.push_back({ok("ways", std::to_string(open_ones.size()) + " between hosts are open"), {}});
  }
  return found;
}

}  // namespace tandem::doctor
