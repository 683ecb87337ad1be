// A launch over machines that -H or --hostfile names: ssh starts an agent, which is another `tandem run`, on each.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launch/host_list.h"
#include "launch/run_flags.h"

namespace tandem::launch {

struct HostsPlan {
  std::vector<Host> hosts;  // that it begins with
  int least = 1;            // with how many hosts the job goes on
  int most = 1;
  std::string discovery;  // the command that names them, and more later; then `hosts` is filled by settle()
  bool elects = false;    // the agents elect who keeps the membership, by etcd
  std::string endpoint;   // where the first one's agent keeps the membership, or etcd's servers; "" for one host
  std::string run_id;
  bool is_only_job = false;   // of that name, which no command line has
  std::string configuration;  // --rdzv-conf
  std::string ranks;          // --nproc-per-node of hosts that name no slots
  std::vector<std::pair<std::string, std::string>> exports;
  std::vector<std::string> metrics_flags;  // of agents that may keep the membership
  std::string remote_tool;  // its path on other machines
  std::vector<std::string> ssh;
};

// Nothing where the flags name no hosts. Throws Failure for flags that contradict it, and for names that make no sense.
std::optional<HostsPlan> plan_for_hosts(const RunFlags& flags);

// Flags of `tandem run` that say how the machines are started or meet, which agent_flags() has instead.
const std::vector<std::string>& flags_of_hosts();

// Of the hosts that are there, those that take part; where the first one's agent is met. Throws Failure.
void settle(HostsPlan& plan, std::vector<Host> hosts);

// What the agent of a host is told, beside the flags that are the same for all. `node`: its place among the plan's
// hosts; -1: it comes later.
std::vector<std::string> agent_flags(const HostsPlan& plan, const Host& host, int node);

// Whether a host is this machine, by its name or by an address, so that its agent needs no ssh.
bool is_here(const Host& host);

}  // namespace tandem::launch
