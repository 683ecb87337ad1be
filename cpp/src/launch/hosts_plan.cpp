#include "launch/hosts_plan.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <sys/socket.h>

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
       {std::pair("--standalone", flags.standalone), {"--node-rank", !flags.node_rank.empty()},
        {"--master-addr", !flags.master_addr.empty()}, {"--master-port", !flags.master_port.empty()},
        {"--local-addr", !flags.local_addr.empty()},
        {"--rdzv-backend static", !flags.rdzv_backend.empty() && flags.rdzv_backend != "c10d"}}) {
    if (is_given) {
      throw Failure(std::string(name) + " is of commands that are given on each machine; -H and --hostfile start all of them, "
                    "and --rdzv-endpoint HOST:PORT says where they meet");
    }
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
    throw Failure("--nnodes is " + nnodes + ", but " + where + " names " + std::to_string(hosts) + (hosts == 1 ? " host" : " hosts"));
  }
  return most;
}

// Where the agents meet: at an address by which this machine reaches the first host, for a name may be a loopback address
// on the host that has it (Debian's 127.0.1.1).
std::string endpoint_of(const HostsPlan& plan) {
  std::string address;
  if (plan.is_here.front()) {
    for (std::size_t other = 1; other < plan.hosts.size() && address.empty(); ++other) {
      if (plan.is_here[other]) continue;
      for (const std::string& remote : addresses_of(plan.hosts[other].name())) {
        if (address.empty()) address = net::local_address_towards({remote, 22});
      }
    }
    if (address.empty()) {
      const bool all_here = std::ranges::all_of(plan.is_here, [](bool here) { return here; });
      address = all_here ? "127.0.0.1" : host_name();
    }
  } else if (const auto known = addresses_of(plan.hosts.front().name()); !known.empty()) {
    address = known.front();
  } else {
    throw Failure(plan.hosts.front().name() + ", the first host, has no address that this machine knows (its name may be one of "
                  "ssh's configuration alone); say with --rdzv-endpoint ADDRESS:PORT where the others reach it");
  }
  std::random_device random;
  const int port = std::uniform_int_distribution<int>(kFirstPort, kLastPort)(random);
  return (address.find(':') == std::string::npos ? address : "[" + address + "]") + ":" + std::to_string(port);
}

// Agents of another launch at the same place are not taken for those of this one.
std::string new_run_id() {
  std::random_device random;
  char text[16];
  std::snprintf(text, sizeof text, "run-%08x", static_cast<unsigned>(random()));
  return text;
}

std::pair<std::string, std::string> export_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const bool is_name = !name.empty() && !std::isdigit(static_cast<unsigned char>(name.front())) &&
                       std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  if (!is_name) throw Failure("-x (--export) has '" + text + "', but has to be a variable's NAME, or NAME=VALUE");
  if (equals != std::string::npos) return {name, text.substr(equals + 1)};
  const char* value = std::getenv(name.c_str());
  if (!value) throw Failure("-x (--export) has " + name + ", but there is no such variable here; -x " + name + "=VALUE gives it one");
  return {name, value};
}

}  // namespace

bool is_this_machine(const std::string& host) {
  const std::string own = host_name();
  if (host == "localhost" || host == own) return true;
  const std::vector<std::string> known = addresses_of(host);
  if (known.empty()) return false;
  const std::set<std::string> own_ones = own_addresses();
  return std::ranges::any_of(known, [&](const std::string& one) { return net::is_loopback(one) || own_ones.contains(one); });
}

std::optional<HostsPlan> plan_for_hosts(const RunFlags& flags) {
  if (!flags.agent.empty()) return std::nullopt;
  const HostFlags& said = flags.hosts;
  if (!said.discovery_script.empty()) {
    throw Failure("--host-discovery-script is not supported; name all hosts that may come by -H or --hostfile, and give "
                  "--nnodes MIN:MAX, with which the job goes on without those that are lost");
  }
  if (said.hosts.empty() && said.hostfile.empty()) {
    refuse_without_hosts(said);
    return std::nullopt;
  }
  if (!said.hosts.empty() && !said.hostfile.empty()) throw Failure("-H and --hostfile both name hosts; give one of them");
  refuse_what_is_not_of_hosts(flags);
  HostsPlan plan;
  plan.hosts = said.hosts.empty() ? read_hostfile(said.hostfile) : parse_hosts(said.hosts);
  plan.least = static_cast<int>(plan.hosts.size());
  if (!flags.nnodes.empty()) {
    const int most = take_counts(flags.nnodes, plan.hosts.size(), said.hosts.empty() ? said.hostfile : "-H");
    const std::size_t colon = flags.nnodes.find(':');
    plan.least = colon == std::string::npos ? most : whole_number(flags.nnodes.substr(0, colon), "--nnodes", 1, most);
    plan.hosts.resize(static_cast<std::size_t>(most));
  }
  for (const Host& host : plan.hosts) {
    // ssh may be to log in as somebody else.
    plan.is_here.push_back(host.login == host.name() && is_this_machine(host.login));
  }
  if (plan.hosts.size() > 1) plan.endpoint = flags.rdzv_endpoint.empty() ? endpoint_of(plan) : flags.rdzv_endpoint;
  plan.run_id = flags.launch.run_id == kNoRunId ? new_run_id() : flags.launch.run_id;
  plan.configuration = flags.rdzv_conf;
  plan.ranks = flags.nproc_per_node.empty() ? "1" : flags.nproc_per_node;
  for (const std::string& one : said.exports) plan.exports.push_back(export_of(one));
  plan.remote_tool = said.remote_tool.empty() ? std::filesystem::read_symlink("/proc/self/exe").string() : said.remote_tool;
  plan.ssh = ssh_words(said.ssh_args);
  return plan;
}

const std::vector<std::string>& flags_of_hosts() {
  static const std::vector<std::string> names = {
      "--hosts",     "--hostfile",      "--host-discovery-script", "--export",  "--remote-tandem", "--ssh-args", "--nproc-per-node",
      "--nnodes",    "--rdzv-backend",  "--rdzv-endpoint",         "--rdzv-conf", "--rdzv-id"};
  return names;
}

std::vector<std::string> agent_flags(const HostsPlan& plan, std::size_t node) {
  const Host& host = plan.hosts.at(node);
  const std::string ranks = host.slots > 0 ? std::to_string(host.slots) : plan.ranks;
  std::vector<std::string> flags = {"--agent=1", "--nproc-per-node=" + ranks, "--rdzv-id=" + plan.run_id};
  if (plan.endpoint.empty()) {
    flags.push_back("--standalone");
    return flags;
  }
  const std::string most = std::to_string(plan.hosts.size());
  // Who keeps the membership is not left to who comes first: its name may be that of several machines.
  const std::string keeps = node == 0 ? "is_host=1" : "is_host=0";
  for (const std::string& flag :
       {"--nnodes=" + std::to_string(plan.least) + ":" + most, std::string("--rdzv-backend=c10d"),
        "--rdzv-endpoint=" + plan.endpoint, "--node-rank=" + std::to_string(node),
        "--rdzv-conf=" + (plan.configuration.empty() ? "" : plan.configuration + ",") + keeps}) {
    flags.push_back(flag);
  }
  return flags;
}

}  // namespace tandem::launch
