#include "launch/run_flags.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

#include "launch/core_binding.h"
#include "launch/failure.h"
#include "launch/numa_binding.h"
#include "launch/numbers.h"
#include "launch/program.h"
#include "launch/rendezvous_flags.h"
#include "launch/signals.h"
#include "launch/slurm_plan.h"

namespace tandem::launch {
namespace {

int gpu_count() {
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    const std::string list = visible;
    return list.empty() || list == "-1" ? 0 : 1 + static_cast<int>(std::count(list.begin(), list.end(), ','));
  }
  int count = 0;
  while (std::filesystem::exists("/dev/nvidia" + std::to_string(count))) ++count;
  return count;
}

int process_count(const std::string& text) {
  const int gpus = gpu_count();
  if (text == "cpu" || (text == "auto" && gpus == 0)) return std::max(static_cast<int>(allowed_cpus().size()), 1);
  if (text == "gpu" || text == "auto") {
    if (gpus == 0) throw Failure("--nproc-per-node is gpu, but this machine has none; give a number, cpu or auto");
    return gpus;
  }
  return whole_number(text, "--nproc-per-node (-n)", 1, 65536);
}

// From 0 to what a clock can hold.
double interval_of(const std::string& text, const std::string& flag) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (*end || !(seconds >= 0 && seconds <= 1e7))
    throw Failure(flag + " is " + text + ", but has to be a number of seconds from 0 to 10000000");
  return seconds;
}

void check_interval(const std::string& text) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (!text.empty() && (*end || !(seconds > 0))) {
    throw Failure("--monitor-interval is " + text + ", but has to be a number of seconds above 0");
  }
}

void resolve_master(RunFlags& flags) {
  LaunchOptions& launch = flags.launch;
  if (!flags.rdzv_backend.empty() && flags.rdzv_backend != "static" &&
      !(flags.rdzv_backend == "etcd" && flags.standalone) && !(flags.rdzv_backend == "c10d" && launch.nnodes == 1)) {
    throw Failure("--rdzv-backend " + flags.rdzv_backend +
                  " is not supported; there are etcd and c10d, with --rdzv-endpoint, and static, with --node-rank, "
                  "--master-addr and --master-port on each node");
  }
  if (!flags.rdzv_endpoint.empty() && flags.master_addr.empty() && !flags.standalone) {
    const std::size_t colon = flags.rdzv_endpoint.rfind(':');
    flags.master_addr = flags.rdzv_endpoint.substr(0, colon);
    if (colon != std::string::npos) flags.master_port = flags.rdzv_endpoint.substr(colon + 1);
  }
  if (launch.nnodes > 1) {
    if (flags.standalone) throw Failure("--standalone means one node, but --nnodes is " + flags.nnodes);
    if (flags.master_addr.empty()) {
      throw Failure("--nnodes is " + flags.nnodes + ": say with --master-addr where node 0 is reached by all nodes");
    }
    if (flags.master_port.empty()) flags.master_port = "29500";
  }
  if (!flags.master_addr.empty()) launch.master_addr = flags.master_addr;
  if (!flags.master_port.empty()) launch.master_port = whole_number(flags.master_port, "--master-port", 0, 65535);
  if (launch.nnodes > 1 && launch.master_port == 0) {
    throw Failure("--master-port is 0, a free port that the other nodes could not know; give a number");
  }
}

void refuse_what_is_for_meeting(const RunFlags& flags) {
  for (const auto& [name, value] : {std::pair("--rdzv-conf", flags.rdzv_conf), {"--local-addr", flags.local_addr}}) {
    if (!value.empty()) {
      throw Failure(std::string(name) +
                    " is of agents that meet: give --nnodes, --rdzv-backend c10d or etcd and --rdzv-endpoint, too");
    }
  }
}

}  // namespace

int node_count(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return whole_number(text, "--nnodes", 1, 65536);
  if (text.substr(0, colon) != text.substr(colon + 1)) {
    throw Failure(
        "--nnodes is " + text +
        ": nodes come and go where their agents meet; give --rdzv-backend c10d and --rdzv-endpoint HOST:PORT, too");
  }
  return whole_number(text.substr(0, colon), "--nnodes", 1, 65536);
}

std::vector<int> signals_of(const std::string& names) {
  std::vector<int> signals;
  std::istringstream rest(names);
  for (std::string name; std::getline(rest, name, ',');) {
    const auto first = name.find_first_not_of(' '), last = name.find_last_not_of(' ');
    const std::optional<int> signal =
        first == std::string::npos ? std::nullopt : Signals::number_of(name.substr(first, last - first + 1));
    if (!signal) {
      throw Failure("--signals-to-handle names '" + name + "', but may have " + Signals::names() + ", between commas");
    }
    signals.push_back(*signal);
  }
  return signals;
}

LaunchOptions resolve(RunFlags& flags, const std::vector<std::string>& command) {
  LaunchOptions& launch = flags.launch;
  const std::vector<int> counts = flags.nproc_per_node.empty() ? counts_of_nodes(flags) : std::vector<int>();
  take_from_step(flags);
  launch.is_agent = !flags.agent.empty();
  if (agents_meet(flags)) {
    resolve_meeting(flags);
  } else {
    launch.nnodes = flags.nnodes.empty() ? 1 : node_count(flags.nnodes);
    if (!flags.node_rank.empty()) launch.node_rank = whole_number(flags.node_rank, "--node-rank", 0, launch.nnodes - 1);
    refuse_what_is_for_meeting(flags);
  }
  if (counts.empty()) {
    launch.nproc_per_node = process_count(flags.nproc_per_node);
  } else {
    launch.nproc_per_node =
        counts[std::min(static_cast<std::size_t>(std::max(launch.node_rank, 0)), counts.size() - 1)];
    if (counts.size() == static_cast<std::size_t>(launch.nnodes)) launch.ranks_of_nodes = counts;
  }
  launch.prefix = !flags.no_prefix;
  launch.cores = usable_cores();
  launch.max_restarts = whole_number(flags.max_restarts, "--max-restarts", 0, 1000000);
  const bool is_told = launch.nnodes > 1 && !launch.meets;
  if (launch.max_restarts > 0 && is_told) {
    throw Failure("--max-restarts " + flags.max_restarts + " with --nnodes " + flags.nnodes +
                  ": nobody would tell the other nodes to start again; leave it out, or let the agents meet by "
                  "--rdzv-backend c10d");
  }
  launch.min_ranks = whole_number(flags.min_ranks, "--min-ranks", 1, launch.meets ? 1 << 20 : launch.nproc_per_node);
  launch.spares = whole_number(flags.spares, "--spares", 0, 65536);
  if (is_told && (launch.min_ranks > 1 || launch.spares > 0)) {
    throw Failure("--min-ranks and --spares are of elastic programs, whose agents have to meet; --nnodes is " +
                  flags.nnodes + ", give --rdzv-backend c10d and --rdzv-endpoint, too");
  }
  if (launch.shared_parameters && (launch.meets || launch.nnodes > 1)) {
    throw Failure(
        "--shared-parameters is of the processes of one machine; on several, distributed optimizers of RPC step without "
        "locks (docs/hogwild.md)");
  }
  for (const auto& [name, seconds] :
       {std::pair("--step-timeout", launch.step_timeout), {"--silence-timeout", launch.silence}}) {
    if (!(seconds >= 0 && seconds <= 1e7))
      throw Failure(std::string(name) + " has to be a number of seconds from 0 to 10000000");
  }
  check_interval(flags.monitor_interval);
  if (!flags.metrics_port.empty()) launch.metrics_port = whole_number(flags.metrics_port, "--metrics-port", 0, 65535);
  if (!flags.progress.empty()) launch.progress = interval_of(flags.progress, "--progress");
  launch.ending_signals = signals_of(flags.signals_to_handle);
  flags.output.keeps_all = !launch.log_dir.empty();
  launch.output = choose_output(flags.output, launch.processes());
  if (!(launch.grace >= 0 && launch.grace <= 1e6)) {
    throw Failure("--grace has to be a number of seconds from 0 to 1000000");
  }
  for (const std::string& setting : launch.environment) {
    if (setting.find('=') == std::string::npos || setting.front() == '=') {
      throw Failure("--env is " + setting + ", but has to be NAME=VALUE");
    }
  }
  if (flags.bind_to != "none" && flags.bind_to != "core") {
    throw Failure("--bind-to is " + flags.bind_to + ", but has to be core or none");
  }
  if (flags.bind_to == "core") {
    launch.cpus = share_cpus(allowed_cpus(), launch.nproc_per_node);
  }
  if (!flags.numa_binding.empty()) {
    const NumaBinding binding = numa_binding_of(flags.numa_binding);
    if (flags.bind_to == "core")
      throw Failure("--numa-binding and --bind-to both say where ranks run; leave one of them out");
    launch.cpus = bind_to_nodes(binding, placed_cpus(allowed_cpus()), nodes_of_gpus(), launch.nproc_per_node);
  }
  launch.owns_cpus = flags.bind_to == "core" || flags.numa_binding == "exclusive";
  // A spare may come to run on anyone's.
  if (!launch.cpus.empty()) launch.cpus.resize(static_cast<std::size_t>(launch.processes()));
  if (!launch.meets) resolve_master(flags);
  const ProgramKind kind = flags.module      ? ProgramKind::kPythonModule
                           : flags.no_python ? ProgramKind::kExecutable
                                             : ProgramKind::kAuto;
  Program program = find_program(command, kind, flags.python);
  launch.executable = std::move(program.executable);
  launch.arguments = std::move(program.arguments);
  return launch;
}

}  // namespace tandem::launch
