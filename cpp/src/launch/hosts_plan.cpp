#include "launch/hosts_plan.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>

#include "base/host.h"
#include "comm/sockets.h"
#include "launch/failure.h"
#include "launch/numbers.h"
#include "launch/rendezvous_flags.h"
#include "launch/remote_shell.h"
#include "tandem/error.h"

namespace tandem::launch {
namespace {

constexpr int kFirstPort = 29400, kLastPort = 29999;

std::set<std::string> own_addresses() {
  std::set<std::string> found;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return found;
  for (const ifaddrs* one = all; one; one = one->ifa_next) {
    if (!one->ifa_addr) continue;
    const int family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    char text[NI_MAXHOST] = "";
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (getnameinfo(one->ifa_addr, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0) found.insert(text);
  }
  freeifaddrs(all);
  return found;
}

std::vector<std::string> addresses_of(const std::string& host) {
  try {
    return net::resolve(host);
  } catch (const Error&) {
    return {};  // ssh may know it by its own configuration
  }
}

// Flags that say something else of where ranks are started, or that cannot be the same on all machines.
void refuse_what_is_not_of_hosts(const RunFlags& flags) {
  for (const auto& [name, is_given] :
       {std::pair(std::string("--standalone"), flags.standalone),
        {"--node-rank", !flags.node_rank.empty()},
        {"--master-addr", !flags.master_addr.empty()},
        {"--master-port", !flags.master_port.empty()},
        {"--local-addr", !flags.local_addr.empty()},
        {"--rdzv-backend " + flags.rdzv_backend,
         !flags.rdzv_backend.empty() && flags.rdzv_backend != "c10d" && flags.rdzv_backend != "etcd"}}) {
    if (is_given) {
      throw Failure(name +
                    " is of commands that are given on each machine; -H and --hostfile start all of them, and "
                    "--rdzv-endpoint HOST:PORT says where they meet");
    }
  }
  if (flags.rdzv_backend == "etcd" && !flags.hosts.discovery_script.empty()) {
    throw Failure(
        "--host-discovery-script has agents that meet by c10d: the end of the first one's says that the job is over; "
        "leave --rdzv-backend etcd out, or give -H");
  }
}

void refuse_without_hosts(const HostFlags& flags) {
  for (const auto& [name, is_given] : {std::pair("-x (--export)", !flags.exports.empty()),
                                       {"--remote-tandem", !flags.remote_tool.empty()},
                                       {"--ssh-args", !flags.ssh_args.empty()}}) {
    if (is_given) throw Failure(std::string(name) + " is of launches on other machines; give -H or --hostfile, too");
  }
}

// How many of the hosts take part, and with how few the job goes on.
int take_counts(const std::string& nnodes, std::size_t hosts, const std::string& where) {
  const std::size_t colon = nnodes.find(':');
  const int most = whole_number(colon == std::string::npos ? nnodes : nnodes.substr(colon + 1), "--nnodes", 1, 65536);
  if (static_cast<std::size_t>(most) > hosts) {
    throw Failure("--nnodes is " + nnodes + ", but " + where + " names " + std::to_string(hosts) +
                  (hosts == 1 ? " host" : " hosts"));
  }
  return most;
}

// Where the agents meet: at an address by which this machine reaches the first host, for a name may be a loopback
// address on the host that has it (Debian's 127.0.1.1).
std::string endpoint_of(const HostsPlan& plan) {
  std::string address;
  if (is_here(plan.hosts.front())) {
    bool all_here = plan.discovery.empty();
    for (const Host& other : plan.hosts) {
      if (is_here(other)) continue;
      all_here = false;
      for (const std::string& remote : addresses_of(other.name())) {
        if (address.empty()) address = net::local_address_towards({remote, 22});
      }
    }
    // Of hosts that come later none is known yet: any address of this machine that is not its own alone.
    for (const std::string& own : own_addresses()) {
      if (address.empty() && !all_here && !net::is_loopback(own) && own.find(':') == std::string::npos) address = own;
    }
    if (address.empty()) address = all_here ? "127.0.0.1" : host_name();
  } else if (const auto known = addresses_of(plan.hosts.front().name()); !known.empty()) {
    address = known.front();
  } else {
    throw Failure(plan.hosts.front().name() +
                  ", the first host, has no address that this machine knows (its name may be one of ssh's "
                  "configuration alone); say with --rdzv-endpoint ADDRESS:PORT where the others reach it");
  }
  std::random_device random;
  const int port = std::uniform_int_distribution<int>(kFirstPort, kLastPort)(random);
  return (address.find(':') == std::string::npos ? address : "[" + address + "]") + ":" + std::to_string(port);
}

// As each agent will read them, so that a mistake is said once. Throws Failure.
void check_etcd_flags(RunFlags flags, const HostsPlan& plan) {
  flags.launch.run_id = plan.run_id;
  resolve_meeting(flags);
  if (flags.launch.keeps) {
    throw Failure("--rdzv-conf has is_host, which is of one node: with -H and etcd any of them may be elected");
  }
  if (std::ranges::all_of(plan.hosts, is_here)) return;
  for (const EtcdServer& server : flags.launch.etcd.servers) {
    if (server.host != "localhost" && !net::is_loopback(server.host)) continue;
    throw Failure("--rdzv-endpoint has " + server.host +
                  ", which is another machine on each host; give an address of etcd's that all of them reach");
  }
}

// As etcdctl has them, so that no password has to be kept on the agents' machines. Under names that agents take away,
// for the programs that they start need neither; who names another user by -x gives its password, too.
void export_etcd_user(HostsPlan& plan) {
  const auto is_said = [&](const std::string& name, const std::string& not_this) {
    return std::ranges::any_of(plan.exports,
                               [&](const auto& one) { return one.first == name && one.second != not_this; });
  };
  const char* user = std::getenv("ETCDCTL_USER");
  const char* password = std::getenv("ETCDCTL_PASSWORD");
  if (!user || is_said("ETCDCTL_USER", user)) return;
  plan.exports.emplace_back(kEtcdUserVariable, user);
  if (password && !is_said("ETCDCTL_PASSWORD", password)) plan.exports.emplace_back(kEtcdPasswordVariable, password);
}

// Agents of another launch at the same place are not taken for those of this one.
std::string new_run_id() {
  std::random_device random;
  char text[16];
  std::snprintf(text, sizeof text, "run-%08x", static_cast<unsigned>(random()));
  return text;
}

// What an agent that may keep the membership is told of how it shows the job. It has no terminal.
std::vector<std::string> metrics_flags_of(const RunFlags& flags) {
  const std::string progress = !flags.progress.empty() ? flags.progress : isatty(STDERR_FILENO) ? "10" : "0";
  std::vector<std::string> words = {"--progress=" + progress, "--metrics-addr=" + flags.launch.metrics_addr};
  if (!flags.metrics_port.empty()) words.push_back("--metrics-port=" + flags.metrics_port);
  if (!flags.launch.summary_dir.empty()) words.push_back("--summary-dir=" + flags.launch.summary_dir);
  return words;
}

std::pair<std::string, std::string> export_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const bool is_name = !name.empty() && !std::isdigit(static_cast<unsigned char>(name.front())) &&
                       std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  if (!is_name) throw Failure("-x (--export) has '" + name + "', but has to be a variable's NAME, or NAME=VALUE");
  if (equals != std::string::npos) return {name, text.substr(equals + 1)};
  const char* value = std::getenv(name.c_str());
  if (!value)
    throw Failure("-x (--export) has " + name + ", but there is no such variable here; -x " + name +
                  "=VALUE gives it one");
  return {name, value};
}

}  // namespace

bool is_here(const Host& host) {
  const std::string name = host.name();
  if (host.login != name) return false;  // ssh may be to log in as somebody else
  if (name == "localhost" || name == host_name()) return true;
  const std::vector<std::string> known = addresses_of(name);
  if (known.empty()) return false;
  const std::set<std::string> own_ones = own_addresses();
  return std::ranges::any_of(known,
                             [&](const std::string& one) { return net::is_loopback(one) || own_ones.contains(one); });
}

std::optional<HostsPlan> plan_for_hosts(const RunFlags& flags) {
  if (!flags.agent.empty()) return std::nullopt;
  const HostFlags& said = flags.hosts;
  const auto given = !said.hosts.empty() + !said.hostfile.empty() + !said.discovery_script.empty();
  if (given == 0) {
    refuse_without_hosts(said);
    return std::nullopt;
  }
  if (given > 1) throw Failure("-H, --hostfile and --host-discovery-script each name hosts; give one of them");
  refuse_what_is_not_of_hosts(flags);
  HostsPlan plan;
  const std::size_t colon = flags.nnodes.find(':');
  plan.discovery = said.discovery_script;
  plan.elects = flags.rdzv_backend == "etcd";
  plan.endpoint = flags.rdzv_endpoint;
  if (!plan.discovery.empty()) {
    if (colon == std::string::npos) {
      throw Failure(
          "--host-discovery-script needs --nnodes MIN:MAX: with how many hosts the job begins and goes on, and how "
          "many it takes");
    }
    plan.most = whole_number(flags.nnodes.substr(colon + 1), "--nnodes", 2, 65536);
    plan.least = whole_number(flags.nnodes.substr(0, colon), "--nnodes", 1, plan.most);
  } else {
    std::vector<Host> hosts = said.hosts.empty() ? read_hostfile(said.hostfile) : parse_hosts(said.hosts);
    plan.most = plan.least = static_cast<int>(hosts.size());
    if (!flags.nnodes.empty()) {
      plan.most = take_counts(flags.nnodes, hosts.size(), said.hosts.empty() ? said.hostfile : "-H");
      plan.least = colon == std::string::npos ? plan.most
                                              : whole_number(flags.nnodes.substr(0, colon), "--nnodes", 1, plan.most);
    }
    settle(plan, std::move(hosts));
  }
  plan.is_only_job = flags.launch.run_id == kNoRunId;
  plan.run_id = plan.is_only_job ? new_run_id() : flags.launch.run_id;
  plan.configuration = flags.rdzv_conf;
  plan.ranks = flags.nproc_per_node.empty() ? "1" : flags.nproc_per_node;
  plan.metrics_flags = metrics_flags_of(flags);
  for (const std::string& one : said.exports) plan.exports.push_back(export_of(one));
  plan.remote_tool =
      said.remote_tool.empty() ? std::filesystem::read_symlink("/proc/self/exe").string() : said.remote_tool;
  plan.ssh = ssh_words(said.ssh_args);
  if (plan.elects && plan.most > 1) {
    check_etcd_flags(flags, plan);
    export_etcd_user(plan);
  }
  return plan;
}

void settle(HostsPlan& plan, std::vector<Host> hosts) {
  plan.hosts = std::move(hosts);
  plan.hosts.resize(std::min(plan.hosts.size(), static_cast<std::size_t>(plan.most)));
  if (plan.most > 1 && plan.endpoint.empty() && !plan.elects) plan.endpoint = endpoint_of(plan);
}

const std::vector<std::string>& flags_of_hosts() {
  static const std::vector<std::string> names = {
      "--hosts",          "--hostfile", "--host-discovery-script", "--export",        "--remote-tandem", "--ssh-args",
      "--nproc-per-node", "--nnodes",   "--rdzv-backend",          "--rdzv-endpoint", "--rdzv-conf",     "--rdzv-id",
      "--progress",       "--metrics-port", "--metrics-addr",      "--summary-dir"};
  return names;
}

std::vector<std::string> agent_flags(const HostsPlan& plan, const Host& host, int node) {
  const std::string ranks = host.slots > 0 ? std::to_string(host.slots) : plan.ranks;
  std::vector<std::string> flags = {"--agent=1", "--nproc-per-node=" + ranks, "--rdzv-id=" + plan.run_id, "--tell-end"};
  if (node == 0 || plan.elects) flags.insert(flags.end(), plan.metrics_flags.begin(), plan.metrics_flags.end());
  if (plan.most == 1) {
    flags.push_back("--standalone");
    return flags;
  }
  if (plan.elects && plan.is_only_job) flags.push_back("--only-job");
  std::string configuration = plan.configuration;
  // Who keeps the membership is not left to who comes first: its name may be that of several machines.
  if (!plan.elects)
    configuration += std::string(configuration.empty() ? "" : ",") + (node == 0 ? "is_host=1" : "is_host=0");
  for (const std::string& flag :
       {"--nnodes=" + std::to_string(plan.least) + ":" + std::to_string(plan.most),
        std::string("--rdzv-backend=") + (plan.elects ? "etcd" : "c10d"), "--rdzv-endpoint=" + plan.endpoint}) {
    flags.push_back(flag);
  }
  if (!configuration.empty()) flags.push_back("--rdzv-conf=" + configuration);
  if (node >= 0) flags.push_back("--node-rank=" + std::to_string(node));
  return flags;
}

}  // namespace tandem::launch
