#include "launch/doctor/hosts/hosts_examination.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "comm/sockets.h"
#include "launch/doctor/hosts/comparison.h"
#include "launch/doctor/hosts/session.h"
#include "launch/doctor/hosts/ways.h"
#include "launch/doctor/page.h"
#include "launch/doctor/rank.h"
#include "launch/failure.h"
#include "launch/hosts_plan.h"
#include "launch/numbers.h"
#include "launch/signals.h"
#include "tandem/error.h"

namespace fs = std::filesystem;
using nlohmann::json;

namespace tandem::doctor {
namespace {

constexpr double kToStart = 30, kToAnswer = 20;  // seconds: of ssh and the tool; of an order that starts no processes
constexpr double kToConnect = 3;
constexpr std::chrono::seconds kToEnd{5};
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

// HOST:PORT or [ADDRESS]:PORT, as a numeric address.
net::Endpoint endpoint_from(const std::string& text) {
  const std::size_t colon = text.rfind(':'), bracket = text.rfind(']');
  const bool has_port = colon != std::string::npos && (bracket == std::string::npos ? text.find(':') == colon : colon > bracket);
  std::string host = text.substr(0, has_port ? colon : std::string::npos);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const int port = has_port ? launch::whole_number(text.substr(colon + 1), "the port of --rdzv-endpoint", 1, 65535) : kDefaultPort;
  return {net::resolve(host).front(), static_cast<std::uint16_t>(port)};
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
  HostsExamination(launch::HostsPlan plan, const launch::RunFlags& flags, const ExaminationOptions& options, bool as_json)
      : plan_(std::move(plan)), flags_(flags), options_(options), as_json_(as_json), interruption_(signals_), states_(plan_.hosts.size()), sections_(plan_.hosts.size()) {}

  // `cannot_meet`: why no endpoint is known; may be "".
  int run(const std::string& cannot_meet) {
    start();
    examine();
    measure_clocks();
    if (states_.size() > 1) {
      if (!cannot_meet.empty()) add({problem("address", cannot_meet, ""), {0}});
      compare(compare_versions(states_));
      compare(compare_clocks(states_));
      if (cannot_meet.empty()) look_for_ways();
    }
    end_sessions();
    if (states_.size() > 1) all_reduce_over_hosts();
    return conclude();
  }

 private:
  // ------------------------------------------------------------------------------------------------------------ orders

  void start() {
    std::vector<std::string> words;
    if (!options_.libtandem.empty()) words.push_back("--libtandem=" + options_.libtandem);
    for (std::size_t i = 0; i < plan_.hosts.size(); ++i) {
      states_[i].name = plan_.hosts[i].login;
      sessions_.push_back(std::make_unique<Session>(plan_, plan_.hosts[i], words, signals_));
    }
    collect([](std::size_t, const json&) {}, kToStart, "it did not answer by ssh");
  }

  // Agents end with their stdin: the ports at which they listen are then free for a launch.
  void end_sessions() {
    const auto until = Clock::now() + kToEnd;
    for (auto& session : sessions_) session->end();
    while (Clock::now() < until && std::ranges::any_of(sessions_, [](const auto& one) { return !one->ended(); })) {
      std::vector<pollfd> polled;
      for (const auto& session : sessions_) session->add_polled(&polled);
      interruption_.wait(std::move(polled), until);
      for (auto& session : sessions_) (void)session->take_answer();
    }
    sessions_.clear();
  }

  // Has each host that takes part do what `order` says (null: nothing), and hands its answer to `take`.
  void ask(const std::function<json(std::size_t)>& order, double seconds, const std::string& what,
           const std::function<void(std::size_t, const json&)>& take) {
    std::vector<bool> asked(sessions_.size());
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      if (!sessions_[i]->alive()) continue;
      const json wanted = order(i);
      if (wanted.is_null()) continue;
      asked[i] = true;
      sessions_[i]->order(wanted);
    }
    collect(take, seconds, "it has not ended " + what, &asked);
  }

  void collect(const std::function<void(std::size_t, const json&)>& take, double seconds, const std::string& why_not,
               const std::vector<bool>* asked = nullptr) {
    std::vector<bool> waits(sessions_.size());
    for (std::size_t i = 0; i < sessions_.size(); ++i) waits[i] = (!asked || (*asked)[i]) && sessions_[i]->failure().empty();
    const auto until = Clock::now() + seconds_of(seconds);
    for (;;) {
      for (std::size_t i = 0; i < sessions_.size(); ++i) {
        if (!waits[i]) continue;
        if (const auto reply = sessions_[i]->take_answer()) {
          waits[i] = false;
          take_reply(i, *reply, take);
        } else if (!sessions_[i]->failure().empty()) {
          waits[i] = false;
          lose(i, sessions_[i]->failure());
        }
      }
      if (std::ranges::find(waits, true) == waits.end()) return;
      if (Clock::now() >= until) break;
      std::vector<pollfd> polled;
      for (const auto& session : sessions_) session->add_polled(&polled);
      interruption_.wait(std::move(polled), until);
    }
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      if (waits[i]) lose(i, why_not + " after " + std::to_string(std::lround(seconds)) + " s");
    }
  }

  void take_reply(std::size_t i, const json& reply, const std::function<void(std::size_t, const json&)>& take) {
    try {
      if (reply.contains("error")) return lose(i, reply.at("error").get<std::string>());
      take(i, reply);
    } catch (const std::exception& error) {  // of another release
      lose(i, std::string("its agent's answer makes no sense here: ") + error.what());
    }
  }

  void lose(std::size_t i, const std::string& why) {
    sessions_[i]->fail(why);
    states_[i].failure = why;
    const Finding finding = problem("host", why, "");
    if (states_[i].report) {
      add({finding, {i}});
    } else {
      tell_of_host(i, lines_of({finding}));
      between_.push_back({finding, {i}});
    }
  }

  // In the hosts' order, whichever is the first to answer.
  void tell_of_host(std::size_t i, const std::string& lines) {
    sections_[i] = states_[i].name + ":\n" + lines + "\n";
    for (; told_ < sections_.size() && !sections_[told_].empty(); ++told_) print(sections_[told_]);
  }

  // ------------------------------------------------------------------------------------------------------------- steps

  void examine() {
    const std::string folder = fs::current_path().string();
    ask([&](std::size_t) { return json{{"do", "examine"}, {"folder", folder}, {"seconds", options_.seconds}, {"quick", options_.is_quick}}; },
        kChecksOfMachine * options_.seconds + kToAnswer, "looking at its machine", [&](std::size_t i, const json& reply) {
          states_[i].report = reply.at("report").get<Report>();
          tell_of_host(i, lines_of(states_[i].report->findings));
        });
  }

  // By the shortest of some rounds, which bounds the error from both sides.
  void measure_clocks() {
    for (int round = 0; round < kClockRounds; ++round) {
      std::vector<double> sent(sessions_.size());
      ask(
          [&](std::size_t i) {
            sent[i] = wall_clock();
            return json{{"do", "clock"}};
          },
          kToAnswer, "telling its clock", [&](std::size_t i, const json& reply) {
            const double came = wall_clock(), error = std::max(came - sent[i], 0.0) / 2;
            HostState& host = states_[i];
            if (host.clock_error >= 0 && host.clock_error <= error) return;
            host.clock = reply.at("now").get<double>() - (sent[i] + came) / 2;
            host.clock_error = error;
          });
    }
  }

  void look_for_ways() {
    const net::Endpoint meet = endpoint_from(plan_.endpoint);
    token_ = new_token();
    ask(
        [&](std::size_t i) {
          return json{{"do", "listen"}, {"towards", meet.address}, {"port", i == 0 ? meet.port : 0}, {"token", token_}};
        },
        kToAnswer, "listening for the others", [&](std::size_t i, const json& reply) {
          HostState& host = states_[i];
          const json& gloo = reply.at("gloo");
          host.gloo_interface = gloo.at("interface").get<std::string>();
          host.gloo_address = gloo.at("address").get<std::string>();
          host.gloo_because = gloo.at("because").get<std::string>();
          host.gloo_error = gloo.at("error").get<std::string>();
          host.gloo_is_loopback = gloo.at("loopback").get<bool>();
          host.gloo_is_of_containers = gloo.at("containers").get<bool>();
          host.ports = reply.at("ports").get<std::string>();
          host.listeners = reply.at("listeners").get<std::vector<Listening>>();
        });
    ask([&](std::size_t i) { return json{{"do", "resolve"}, {"names", names_for(i)}}; }, kToAnswer, "resolving names",
        [&](std::size_t i, const json& reply) {
          for (const auto& [name, found] : reply.at("names").items()) {
            states_[i].names[name] = found.value("addresses", std::vector<std::string>());
          }
        });
    std::vector<Way> ways = ways_between(states_);
    try_ways(ways);
    std::vector<Way> others = other_ways(states_, ways);
    try_ways(others);
    compare(compare_addresses(states_));
    compare(compare_names(states_));
    compare(judge(states_, ways, others, kToConnect));
  }

  std::vector<std::string> names_for(std::size_t i) const {
    std::set<std::string> names;
    for (std::size_t k = 0; k < plan_.hosts.size(); ++k) {
      const std::string name = plan_.hosts[k].name();
      if (k != i && states_[k].takes_part() && !is_numeric(name) && name != "localhost") names.insert(name);
    }
    return {names.begin(), names.end()};
  }

  void try_ways(std::vector<Way>& ways) {
    std::vector<std::vector<Way*>> of_host(states_.size());
    for (Way& way : ways) of_host[way.from].push_back(&way);
    ask(
        [&](std::size_t i) {
          if (of_host[i].empty()) return json();
          json targets = json::array();
          for (const Way* way : of_host[i]) targets.push_back({{"address", way->at.address}, {"port", way->at.port}});
          return json{{"do", "connect"}, {"targets", targets}, {"token", token_}, {"seconds", kToConnect}};
        },
        kToConnect + kToAnswer, "connecting to the others", [&](std::size_t i, const json& reply) {
          const auto outcomes = reply.at("outcomes").get<std::vector<std::string>>();
          if (outcomes.size() != of_host[i].size()) throw std::invalid_argument("another number of outcomes than of targets");
          for (std::size_t k = 0; k < outcomes.size(); ++k) of_host[i][k]->outcome = outcomes[k];
        });
    // Whoever was lost meanwhile has no outcome, and is told of already.
    std::erase_if(ways, [&](const Way& way) { return !states_[way.from].takes_part() || !states_[way.to].takes_part(); });
  }

  void all_reduce_over_hosts() {
    const std::string topic = "all-reduce";
    if (options_.is_quick) return;
    std::string missing;
    for (const HostState& host : states_) {
      if (host.takes_part() && !host.fact("libtorch").empty()) continue;
      missing += (missing.empty() ? "" : ", ") + host.name;
    }
    int problems = 0;
    for (const HostFinding& one : between_) problems += count({one.finding}).problems;
    if (!missing.empty()) return add({warning(topic, "not tried over all hosts: " + missing + " takes no part", "see above"), {}});
    if (problems > 0) return add({warning(topic, "not tried over all hosts", "mend what is wrong between them first"), {}});
    std::vector<std::string> run = {"/proc/self/exe", "run", "-H", list_of(plan_.hosts), "--remote-tandem=" + plan_.remote_tool,
                                    "--rdzv-endpoint=" + plan_.endpoint,
                                    "--rdzv-conf=join_timeout=" + std::to_string(std::max(1L, std::lround(options_.seconds / 2)))};
    if (!flags_.hosts.ssh_args.empty()) run.push_back("--ssh-args=" + flags_.hosts.ssh_args);
    // As they were given: values that come from this process's environment stay out of lists of processes.
    for (const std::string& one : flags_.hosts.exports) run.push_back("--export=" + one);
    std::vector<std::size_t> all(states_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    add({all_reduce(topic, std::move(run), static_cast<int>(states_.size()), "gloo", options_.libtandem, options_.seconds, interruption_), all});
  }

  // ------------------------------------------------------------------------------------------------------------ output

  void print(const std::string& text) const {
    if (as_json_) return;
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }

  void add(HostFinding one) {
    if (!has_begun_) print("between the hosts:\n");
    has_begun_ = true;
    print(lines_of({one.finding}));
    between_.push_back(std::move(one));
  }

  void compare(std::vector<HostFinding> found) {
    for (HostFinding& one : found) add(std::move(one));
  }

  int conclude() const {
    Count counted;
    const auto take = [&](const Count& more) {
      counted.problems += more.problems;
      counted.warnings += more.warnings;
    };
    for (const HostState& host : states_) {
      if (host.report) take(count(host.report->findings));
    }
    json findings = json::array(), hosts = json::array();
    for (const HostFinding& one : between_) {
      take(count({one.finding}));
      json described = one.finding;
      described["hosts"] = json::array();
      for (const std::size_t place : one.hosts) described["hosts"].push_back(states_[place].name);
      findings.push_back(std::move(described));
    }
    for (const HostState& host : states_) {
      json one = {{"name", host.name}, {"takes_part", host.takes_part()}};
      if (host.report) one["report"] = *host.report;
      if (!host.gloo_address.empty()) one["gloo"] = {{"interface", host.gloo_interface}, {"address", host.gloo_address}, {"because", host.gloo_because}};
      if (host.clock_error >= 0) one["clock"] = {{"ahead_seconds", host.clock}, {"error_seconds", host.clock_error}};
      hosts.push_back(std::move(one));
    }
    if (as_json_) {
      const json all = {{"ok", counted.problems == 0}, {"hosts", hosts}, {"findings", findings}};
      std::puts(all.dump(2, ' ', false, json::error_handler_t::replace).c_str());
    } else {
      print("\n" + table_of(rows_of(states_, between_)) + "\n" + describe(counted) + "\n");
    }
    return counted.problems > 0 ? 1 : 0;
  }

  const launch::HostsPlan plan_;
  const launch::RunFlags& flags_;
  const ExaminationOptions& options_;
  const bool as_json_;
  const launch::Signals signals_;
  Interruption interruption_;
  std::string token_;
  std::vector<HostState> states_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<HostFinding> between_;
  std::vector<std::string> sections_;  // what is told of each host
  std::size_t told_ = 0;               // of these
  bool has_begun_ = false;  // to print what is between hosts
};

}  // namespace

bool hosts_are_named(const launch::RunFlags& flags) {
  const launch::HostFlags& hosts = flags.hosts;
  if (!hosts.hosts.empty() || !hosts.hostfile.empty()) return true;
  if (!flags.rdzv_endpoint.empty() || !hosts.exports.empty() || !hosts.remote_tool.empty() || !hosts.ssh_args.empty()) {
    throw launch::Failure("--rdzv-endpoint, -x, --remote-tandem and --ssh-args are of several hosts; give --hosts or --hostfile, too");
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
