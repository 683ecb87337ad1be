#include "launch/run_command.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "launch/core_binding.h"
#include "launch/failure.h"
#include "launch/guardian.h"
#include "launch/program.h"

namespace tandem::launch {
namespace {

struct Flags {
  std::string nproc_per_node = "1";
  std::string nnodes = "1";
  int node_rank = 0;
  std::string master_addr;
  std::string master_port;
  std::string rdzv_backend;
  std::string rdzv_endpoint;
  bool standalone = false;
  bool module = false;
  bool no_python = false;
  std::string python = "python3";
  bool no_prefix = false;
  std::string bind_to = "none";
  std::string max_restarts = "0";
  LaunchOptions launch;
};

// torchrun's flags that `tandem run` does not have, and what to do instead.
struct Unsupported {
  const char* name;
  const char* instead;
};
constexpr Unsupported kUnsupported[] = {
    {"--redirects", "output is carried with a prefix, and --log-dir keeps it in files"},
    {"--tee", "--log-dir writes files beside the terminal's output"},
    {"--local-ranks-filter", "--log-dir keeps each rank's output in a file of its own"},
    {"--rdzv-conf", "the timeout of the rendezvous is the program's"},
    {"--run-path", "name the script itself"},
    {"--start-method", "workers are always started by fork and exec"},
    {"--monitor-interval", "a worker's end is noticed at once"},
    {"--local-addr", "use --master-addr"},
    {"--logs-specs", "use --log-dir"},
    {"--numa-binding", "--bind-to core gives each rank cores of its own"},
};

int whole_number(const std::string& text, const std::string& flag, int least, int most) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || value < least || value > most) {
    throw Failure(flag + " is " + (text.empty() ? "empty" : text) + ", but has to be a whole number from " +
                  std::to_string(least) + " to " + std::to_string(most));
  }
  return static_cast<int>(value);
}

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

int node_count(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return whole_number(text, "--nnodes", 1, 65536);
  if (text.substr(0, colon) != text.substr(colon + 1)) {
    throw Failure("--nnodes is " + text +
                  ", but `tandem run` does not change the number of nodes while it runs; give "
                  "one number");
  }
  return whole_number(text.substr(0, colon), "--nnodes", 1, 65536);
}

void resolve_master(Flags& flags) {
  LaunchOptions& launch = flags.launch;
  if (!flags.rdzv_backend.empty() && flags.rdzv_backend != "static" &&
      !(flags.rdzv_backend == "c10d" && launch.nnodes == 1)) {
    throw Failure("--rdzv-backend " + flags.rdzv_backend +
                  " is not supported; give --node-rank, --master-addr and "
                  "--master-port on each node");
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

LaunchOptions resolve(Flags& flags, const std::vector<std::string>& command) {
  LaunchOptions& launch = flags.launch;
  launch.nproc_per_node = process_count(flags.nproc_per_node);
  launch.nnodes = node_count(flags.nnodes);
  launch.node_rank = flags.node_rank;
  launch.prefix = !flags.no_prefix;
  if (launch.node_rank < 0 || launch.node_rank >= launch.nnodes) {
    throw Failure("--node-rank is " + std::to_string(launch.node_rank) + ", but has to be from 0 to " +
                  std::to_string(launch.nnodes - 1) + " with --nnodes " + std::to_string(launch.nnodes));
  }
  if (flags.max_restarts != "0") {
    throw Failure("--max-restarts " + flags.max_restarts +
                  " is not supported: `tandem run` ends all ranks with the "
                  "first that fails");
  }
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
  if (flags.bind_to == "core") launch.cpus = share_cpus(allowed_cpus(), launch.nproc_per_node);
  resolve_master(flags);
  const ProgramKind kind = flags.module      ? ProgramKind::kPythonModule
                           : flags.no_python ? ProgramKind::kExecutable
                                             : ProgramKind::kAuto;
  Program program = find_program(command, kind, flags.python);
  launch.executable = std::move(program.executable);
  launch.arguments = std::move(program.arguments);
  return launch;
}

constexpr const char* kSeparator = "\x01--";

// CLI11 leaves what follows the flags to us: [--] program arguments…
std::vector<std::string> command_of(std::vector<std::string> rest) {
  const bool separated = !rest.empty() && rest.front() == kSeparator;
  if (separated) rest.erase(rest.begin());
  std::replace(rest.begin(), rest.end(), std::string(kSeparator), std::string("--"));
  if (rest.empty()) throw Failure("no program to run; usage: tandem run -n 2 [flags] [--] program arguments…");
  const std::string& first = rest.front();
  if (separated || first.front() != '-') return rest;
  std::string name = first.substr(0, first.find('='));
  std::replace(name.begin(), name.end(), '_', '-');
  if (name == "-r") name = "--redirects";
  if (name == "-t") name = "--tee";
  for (const Unsupported& flag : kUnsupported) {
    if (name == flag.name) throw Failure(first + " is torchrun's and not supported here: " + flag.instead);
  }
  throw Failure("unknown flag " + first + " (see tandem run --help); the program's own flags come after the program");
}

}  // namespace

std::vector<std::string> arguments_for_parser(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (argc > 1 && arguments.front() == "run") {
    std::replace(arguments.begin(), arguments.end(), std::string("--"), std::string(kSeparator));
  }
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

void add_run_command(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* run =
      app.add_subcommand("run", "Start a program once per rank, on this machine, with torchrun's environment");
  run->prefix_command();
  run->footer(
      "Usage: tandem run -n 2 [flags] [--] program arguments...\n"
      "A program that ends in .py is run by Python. The first rank that fails ends the others, and its exit code is\n"
      "the launcher's (128 + N after signal N).");

  // torchrun takes underscores for hyphens, and PET_NAME from the environment.
  auto aliased = [run](const std::string& names, auto add) {
    const std::string name = names.substr(names.rfind("--") + 2);
    std::string variable = "PET_" + name;
    for (char& c : variable) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
    std::string spelling = "--" + name;
    std::replace(spelling.begin() + 2, spelling.end(), '-', '_');
    CLI::Option* option = add(names);
    option->envname(variable);
    if (spelling != "--" + name) add(spelling)->group("");
  };
  auto value = [&](const std::string& names, auto& target, const std::string& help) {
    aliased(names, [&](const std::string& spelled) { return run->add_option(spelled, target, help); });
  };

  value("-n,--nproc-per-node", flags->nproc_per_node, "processes on this machine: a number, cpu, gpu or auto [1]");
  value("--nnodes", flags->nnodes, "machines; start this command on each [1]");
  value("--node-rank", flags->node_rank, "which of them this is [0]");
  value("--master-addr", flags->master_addr, "where rank 0 is reached [127.0.0.1]");
  value("--master-port", flags->master_port, "rank 0's port [a free one; 29500 with several machines]");
  value("--rdzv-endpoint", flags->rdzv_endpoint, "HOST:PORT, the same as --master-addr and --master-port");
  value("--rdzv-backend", flags->rdzv_backend, "static (c10d means the same on one machine)");
  value("--rdzv-id", flags->launch.run_id, "the run's name, for log folders and workers [none]");
  value("--role", flags->launch.role, "ROLE_NAME of the workers [default]");
  value("--max-restarts", flags->max_restarts, "0");
  value("--log-dir", flags->launch.log_dir, "keep each rank's stdout.log, stderr.log and error.json in a folder here");
  value("--bind-to", flags->bind_to, "core: each rank computes on cores of its own; none [none]");
  run->add_flag("--standalone", flags->standalone, "one machine and a free port, which is the default");
  run->add_option("--grace", flags->launch.grace, "seconds from SIGTERM to SIGKILL when ranks have to end [5]");
  run->add_flag("--no-prefix", flags->no_prefix, "do not begin each line with its rank");
  run->add_option("--env", flags->launch.environment, "NAME=VALUE for every worker; may be repeated")
      ->allow_extra_args(false)
      ->take_all();
  run->add_flag("-m,--module", flags->module, "the program is a Python module");
  aliased("--no-python", [&](const std::string& n) {
    return run->add_flag(n, flags->no_python, "run a file that ends in .py itself, not by Python");
  });
  run->add_option("--python", flags->python, "the Python for .py files [python3]")->envname("PYTHON_EXEC");

  run->callback([run, flags, exit_code] { *exit_code = launch(resolve(*flags, command_of(run->remaining()))); });
}

}  // namespace tandem::launch
