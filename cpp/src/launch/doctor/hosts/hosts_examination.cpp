#include "launch/doctor/hosts/hosts_examination.h"

#include <arpa/inet.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "comm/sockets.h"
#include "launch/agent_setup.h"
#include "launch/doctor/hosts/comparison.h"
#include "launch/doctor/hosts/conversation.h"
#include "launch/doctor/hosts/hosts_page.h"
#include "launch/doctor/hosts/ways.h"
#include "launch/doctor/page.h"
#include "launch/doctor/rank.h"
#include "launch/failure.h"
#include "launch/hosts_plan.h"
#include "launch/numbers.h"
#include "launch/signals.h"

namespace fs = std::filesystem;
using nlohmann::json;

namespace tandem::doctor {
namespace {

constexpr double kToStart = 30, kToAnswer = 20;  // seconds: of ssh and the tool; of an order that starts no processes
constexpr double kToConnect = 3;
constexpr std::chrono::seconds kToEndOverHosts{25};  // longer than `tandem run -H` waits for agents, then for ssh
constexpr int kClockRounds = 5;
constexpr int kChecksOfMachine = 3;  // that start processes, one after the other
constexpr int kDefaultPort = 29400;

bool is_numeric(const std::string& name) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, name.c_str(), bytes) == 1 || inet_pton(AF_INET6, name.c_str(), bytes) == 1;
}

std::string new_token() {
  std::random_device random;
  char text[40];
  std::snprintf(text, sizeof text, "tandem-%08x%08x", static_cast<unsigned>(random()), static_cast<unsigned>(random()));
  return text;
}

double wall_clock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// HOST:PORT or [ADDRESS]:PORT; each host resolves a name itself. Throws launch::Failure for what is no port.
net::Endpoint endpoint_from(const std::string& text) {
  const std::size_t colon = text.rfind(':'), bracket = text.rfind(']');
  const bool has_port =
      colon != std::string::npos && (bracket == std::string::npos ? text.find(':') == colon : colon > bracket);
  std::string host = text.substr(0, has_port ? colon : std::string::npos);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const int port =
      has_port ? launch::whole_number(text.substr(colon + 1), "the port of --rdzv-endpoint", 1, 65535) : kDefaultPort;
  return {host, static_cast<std::uint16_t>(port)};
}

std::vector<bool> here_of(const std::vector<launch::Host>& hosts) {
  std::vector<bool> here;
  for (const launch::Host& host : hosts) here.push_back(launch::is_here(host));
  return here;
}

// As -H takes it, with one rank on each.
std::string list_of(const std::vector<launch::Host>& hosts) {
  std::string list;
  for (const launch::Host& host : hosts) {
    const std::string name = host.name(), user = host.login.substr(0, host.login.size() - name.size());
    list += (list.empty() ? "" : ",") + user + (name.find(':') == std::string::npos ? name : "[" + name + "]") + ":1";
  }
  return list;
}

class HostsExamination {
 public:
  HostsExamination(launch::HostsPlan plan, const launch::RunFlags& flags, const ExaminationOptions& options,
                   bool as_json)
      : plan_(std::move(plan)),
        here_(here_of(plan_.hosts)),
        meet_(endpoint_from(plan_.endpoint)),
        flags_(flags),
        options_(options),
        interruption_(signals_),
        states_(plan_.hosts.size()),
        page_(states_, as_json),
        agents_(interruption_, [this](std::size_t i, const std::string& why) { lose(i, why); }) {}

  // `cannot_meet`: why no endpoint is known; may be "".
  int run(const std::string& cannot_meet) {
    start();
    examine();
    measure_clocks();
    if (states_.size() > 1) {
      if (!cannot_meet.empty()) page_.add({problem("address", cannot_meet, ""), {0}});
      compare(compare_versions(states_));
      compare(compare_clocks(states_));
      if (cannot_meet.empty()) look_for_ways();
    }
    agents_.end();
    if (states_.size() > 1) all_reduce_over_hosts();
    return page_.conclude();
  }

 private:
  void start() {
    std::vector<std::string> words;
    const std::string& library = options_.libtandem;
    const bool is_path = library.find('/') != std::string::npos;
    if (!library.empty()) words.push_back("--libtandem=" + (is_path ? fs::absolute(library).string() : library));
    for (std::size_t i = 0; i < plan_.hosts.size(); ++i) states_[i].name = plan_.hosts[i].login;
    agents_.start(plan_, here_, words, kToStart, [this](std::size_t i, const json& first) {
      states_[i].release = first.at("release").get<std::string>();
    });
  }

  void lose(std::size_t i, const std::string& why) {
    states_[i].failure = why;
    const std::string& release = states_[i].release;
    const std::string other = release.empty() || release == options_.release
                                  ? ""
                                  : "tandem there is " + release + ", here " + options_.release + ": install the same";
    const Finding finding = problem("host", why, other);
    const bool is_new = !states_[i].report;
    if (is_new) page_.tell_of_host(i, lines_of({finding}));
    page_.add({finding, {i}}, is_new);
  }

  void examine() {
    const std::string folder = launch::working_folder();
    agents_.ask(
        [&](std::size_t) {
          return json{
              {"do", "examine"}, {"folder", folder}, {"seconds", options_.seconds}, {"quick", options_.is_quick}};
        },
        kChecksOfMachine * options_.seconds + kToAnswer, "looking at its machine",
        [&](std::size_t i, const json& reply) {
          states_[i].report = reply.at("report").get<Report>();
          page_.tell_of_host(i, lines_of(states_[i].report->findings));
        });
  }

  // By the shortest of some rounds, which bounds the error from both sides.
  void measure_clocks() {
    for (int round = 0; round < kClockRounds; ++round) {
      std::vector<double> sent(states_.size());
      agents_.ask(
          [&](std::size_t i) {
            sent[i] = wall_clock();
            return json{{"do", "clock"}};
          },
          kToAnswer, "telling its clock",
          [&](std::size_t i, const json& reply) {
            const double came = wall_clock(), error = std::max(came - sent[i], 0.0) / 2;
            HostState& host = states_[i];
            if (host.clock_error >= 0 && host.clock_error <= error) return;
            host.clock = reply.at("now").get<double>() - (sent[i] + came) / 2;
            host.clock_error = error;
          });
    }
  }

  void look_for_ways() {
    agents_.ask(
        [&](std::size_t i) {
          return json{{"do", "resolve"}, {"names", names_for(i)}};
        },
        kToAnswer, "resolving names",
        [&](std::size_t i, const json& reply) {
          states_[i].names = reply.at("names").get<std::map<std::string, KnownName>>();
        });
    token_ = new_token();
    std::string met;
    if (!listen(&met)) return;
    const bool listens = std::ranges::any_of(states_.front().listeners, [](const Listening& one) {
      return one.what == "meet" && one.error.empty();
    });
    std::vector<HostFinding> meeting;
    if (listens) meeting = compare_meeting(states_, meet_.address, met);
    const bool all_reach_nothing = net::is_loopback(met) && !meeting.empty();
    compare(std::move(meeting));
    if (all_reach_nothing) return;
    std::vector<Way> ways = ways_between(states_);
    try_ways(ways);
    std::vector<Way> others = other_ways(states_, ways);
    try_ways(others);
    compare(compare_addresses(states_));
    compare(compare_names(states_));
    compare(judge(states_, ways, others, kToConnect, flags_.rdzv_endpoint.empty()));
  }

  // The first host, where the agents meet, then the others, whose way to it says on which interface Gloo listens. *met:
  // where it listens, or would. False where no address is known.
  bool listen(std::string* met) {
    std::vector<std::string> at = {meet_.address};
    if (!is_numeric(meet_.address)) {
      const auto asked = std::ranges::find_if(states_, &HostState::takes_part);  // the first, which listens, if it can
      if (asked == states_.end()) return false;
      const KnownName known = names_of(*asked, meet_.address);
      at = known.addresses;
      if (at.empty()) {
        page_.add({problem("address", asked->name + " does not know " + meet_.address + ": " + known.error,
                           "give an address that all reach: --rdzv-endpoint ADDRESS:PORT"),
                   {static_cast<std::size_t>(asked - states_.begin())}});
        return false;
      }
    }
    *met = at.front();
    const auto order = [&](bool meets) {
      return json{{"do", "listen"},
                  {"meet", meets ? at : std::vector<std::string>()},
                  {"port", meet_.port},
                  {"towards", *met},
                  {"token", token_}};
    };
    const auto take = [&](std::size_t i, const json& reply) {
      HostState& host = states_[i];
      const json& gloo = reply.at("gloo");
      host.gloo = gloo.at("at").get<std::vector<GlooPlace>>();
      host.gloo_because = gloo.at("because").get<std::string>();
      host.gloo_error = gloo.at("error").get<std::string>();
      host.ports = reply.at("ports").get<std::string>();
      host.listeners = reply.at("listeners").get<std::vector<Listening>>();
      for (const Listening& one : host.listeners) {
        if (one.what == "meet" && one.error.empty()) *met = one.address;
      }
    };
    const std::string what = "listening for the others";
    agents_.ask([&](std::size_t i) { return i == 0 ? order(true) : json(); }, kToAnswer, what, take);
    agents_.ask([&](std::size_t i) { return i == 0 ? json() : order(false); }, kToAnswer, what, take);
    return true;
  }

  static KnownName names_of(const HostState& host, const std::string& name) {
    const auto known = host.names.find(name);
    return known == host.names.end() ? KnownName{{}, "it did not say"} : known->second;
  }

  std::vector<std::string> names_for(std::size_t i) const {
    std::set<std::string> names;
    if (!is_numeric(meet_.address)) names.insert(meet_.address);
    for (std::size_t k = 0; k < plan_.hosts.size(); ++k) {
      const std::string name = plan_.hosts[k].name();
      if (k != i && states_[k].takes_part() && !is_numeric(name) && name != "localhost") names.insert(name);
    }
    return {names.begin(), names.end()};
  }

  void try_ways(std::vector<Way>& ways) {
    std::vector<std::vector<Way*>> of_host(states_.size());
    for (Way& way : ways) of_host[way.from].push_back(&way);
    agents_.ask(
        [&](std::size_t i) {
          if (of_host[i].empty()) return json();
          json targets = json::array();
          for (const Way* way : of_host[i]) targets.push_back({{"address", way->at.address}, {"port", way->at.port}});
          return json{{"do", "connect"}, {"targets", targets}, {"token", token_}, {"seconds", kToConnect}};
        },
        kToConnect + kToAnswer, "connecting to the others",
        [&](std::size_t i, const json& reply) {
          const auto outcomes = reply.at("outcomes").get<std::vector<std::string>>();
          if (outcomes.size() != of_host[i].size())
            throw std::invalid_argument("another number of outcomes than of targets");
          for (std::size_t k = 0; k < outcomes.size(); ++k) of_host[i][k]->outcome = outcomes[k];
        });
    // Whoever was lost meanwhile has no outcome, and is told of already.
    std::erase_if(ways,
                  [&](const Way& way) { return !states_[way.from].takes_part() || !states_[way.to].takes_part(); });
  }

  void all_reduce_over_hosts() {
    const std::string topic = "all-reduce";
    if (options_.is_quick) return;
    std::string missing;
    for (const HostState& host : states_) {
      if (host.takes_part() && !host.fact("libtorch").empty()) continue;
      missing += (missing.empty() ? "" : ", ") + host.name;
    }
    if (!missing.empty())
      return page_.add({warning(topic, "not tried over all hosts: " + missing + " takes no part", "see above"), {}});
    if (page_.problems_between() > 0)
      return page_.add({warning(topic, "not tried over all hosts", "mend what is wrong between them first"), {}});
    std::vector<std::string> run = {
        "/proc/self/exe",
        "run",
        "-H",
        list_of(plan_.hosts),
        "--remote-tandem=" + plan_.remote_tool,
        "--rdzv-endpoint=" + plan_.endpoint,
        "--rdzv-conf=join_timeout=" + std::to_string(std::max(1L, std::lround(options_.seconds / 2)))};
    if (!flags_.hosts.ssh_args.empty()) run.push_back("--ssh-args=" + flags_.hosts.ssh_args);
    // As they were given: values that come from this process's environment stay out of lists of processes.
    for (const std::string& one : flags_.hosts.exports) run.push_back("--export=" + one);
    std::vector<std::size_t> all(states_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    page_.add({all_reduce(topic, std::move(run), static_cast<int>(states_.size()), "gloo", options_.libtandem,
                          options_.seconds, interruption_, kToEndOverHosts),
               all});
  }

  void compare(std::vector<HostFinding> found) {
    for (HostFinding& one : found) page_.add(std::move(one));
  }

  const launch::HostsPlan plan_;
  // Before signals are: a resolver may take long.
  const std::vector<bool> here_;
  const net::Endpoint meet_;  // as it is given: with a name, or an address
  const launch::RunFlags& flags_;
  const ExaminationOptions& options_;
  const launch::Signals signals_;
  Interruption interruption_;
  std::string token_;
  std::vector<HostState> states_;
  HostsPage page_;
  Conversation agents_;
};

}  // namespace

bool hosts_are_named(const launch::RunFlags& flags) {
  const launch::HostFlags& hosts = flags.hosts;
  if (!hosts.hosts.empty() || !hosts.hostfile.empty()) return true;
  if (!flags.rdzv_endpoint.empty() || !hosts.exports.empty() || !hosts.remote_tool.empty() || !hosts.ssh_args.empty()) {
    throw launch::Failure(
        "--rdzv-endpoint, -x, --remote-tandem and --ssh-args are of several hosts; give --hosts or --hostfile, too");
  }
  return false;
}

int examine_hosts(const launch::RunFlags& given, const ExaminationOptions& options, bool as_json) {
  launch::RunFlags flags = given;
  std::string cannot_meet;
  std::optional<launch::HostsPlan> plan;
  try {
    plan = launch::plan_for_hosts(flags);
  } catch (const launch::Failure& failure) {
    // That no address of the first host is known is something that was found; what else is wrong is so again.
    if (!flags.rdzv_endpoint.empty()) throw;
    flags.rdzv_endpoint = "127.0.0.1:29400";
    plan = launch::plan_for_hosts(flags);
    cannot_meet = failure.what();
  }
  return HostsExamination(std::move(*plan), flags, options, as_json).run(cannot_meet);
}

}  // namespace tandem::doctor
