// `tandem run`'s flags as they were given, and what they mean together.
#pragma once

#include <string>
#include <vector>

#include "launch/options.h"
#include "launch/output_choice.h"

namespace tandem::launch {

// What says on which machines ssh starts agents, and how: launch/hosts_plan.h.
struct HostFlags {
  std::string hosts;     // -H
  std::string hostfile;
  std::string discovery_script;
  std::vector<std::string> exports;  // -x
  std::string remote_tool;
  std::string ssh_args;
};

struct RunFlags {
  std::string nproc_per_node;  // "": 1, or what Slurm says
  std::string nnodes;          // "": 1, or what Slurm says
  std::string node_rank;
  std::string master_addr;
  std::string master_port;
  std::string rdzv_backend;
  std::string rdzv_endpoint;
  std::string rdzv_conf;
  std::string local_addr;
  bool standalone = false;
  bool module = false;
  bool no_python = false;
  std::string python = "python3";
  bool no_prefix = false;
  std::string bind_to = "none";
  std::string numa_binding;
  std::string max_restarts = "0";
  std::string min_ranks = "1";
  std::string spares = "0";
  std::string monitor_interval;
  std::string progress;
  std::string metrics_port;
  std::string signals_to_handle = "SIGTERM,SIGINT,SIGHUP,SIGQUIT";
  OutputFlags output;
  HostFlags hosts;
  std::string agent;     // of one that another `tandem run` started: how many ranks each node gets
  LaunchOptions launch;  // what needs no more than its value
};

// What --rdzv-id is when it is not given.
inline constexpr const char* kNoRunId = "none";

// Of --nnodes. Throws Failure.
int node_count(const std::string& text);
// Of --signals-to-handle. Throws Failure.
std::vector<int> signals_of(const std::string& names);

// `command` is the program and its arguments. Throws Failure for flags that contradict each other or this machine, and
// for a program that cannot be run.
LaunchOptions resolve(RunFlags& flags, const std::vector<std::string>& command);

}  // namespace tandem::launch
