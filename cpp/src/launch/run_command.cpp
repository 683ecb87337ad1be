#include "launch/run_command.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "launch/failure.h"
#include "launch/guardian.h"
#include "launch/hosts_launch.h"
#include "launch/hosts_plan.h"
#include "launch/passed_flags.h"
#include "launch/run_flags.h"
#include "launch/slurm_launch.h"
#include "launch/slurm_plan.h"

namespace tandem::launch {
namespace {

// torchrun's flags that `tandem run` does not have, and what to do instead.
struct Unsupported {
  const char* name;
  const char* instead;
};
constexpr Unsupported kUnsupported[] = {
    {"--run-path", "it runs a script within torchrun's own Python; name the script itself"},
    {"--start-method", "it is of Python's multiprocessing; workers are always started by fork and exec"},
    {"--logs-specs", "it names a class of Python; --log-dir, --redirects and --tee choose where output goes"},
    {"--event-log-handler", "it names a handler of Python's logging"},
};

// "--log-dir" → "PET_LOG_DIR", torchrun's variable for it.
std::string variable_of(const std::string& flag) {
  std::string variable = "PET_" + flag.substr(2);
  for (char& c : variable) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return variable;
}

void refuse_unsupported_variables() {
  for (const Unsupported& flag : kUnsupported) {
    const std::string variable = variable_of(flag.name);
    const char* value = std::getenv(variable.c_str());
    if (value && *value) {
      throw Failure("the environment has " + variable + ", which stands for torchrun's " + flag.name +
                    " and is not supported here: " + flag.instead);
    }
  }
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
  for (const Unsupported& flag : kUnsupported) {
    if (name == flag.name) throw Failure(first + " is torchrun's and not supported here: " + flag.instead);
  }
  throw Failure("unknown flag " + first + " (see tandem run --help); the program's own flags come after the program");
}

}  // namespace

std::vector<std::string> arguments_for_parser(std::vector<std::string> arguments) {
  if (!arguments.empty() && arguments.front() == "run") {
    std::replace(arguments.begin(), arguments.end(), std::string("--"), std::string(kSeparator));
  }
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

void add_run_command(CLI::App& app, int* exit_code, std::vector<std::string> arguments) {
  auto flags = std::make_shared<RunFlags>();
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
    std::string spelling = "--" + name;
    std::replace(spelling.begin() + 2, spelling.end(), '-', '_');
    CLI::Option* option = add(names);
    option->envname(variable_of("--" + name));
    if (spelling != "--" + name) add(spelling)->group("");
  };
  auto value = [&](const std::string& names, auto& target, const std::string& help) {
    aliased(names, [&](const std::string& spelled) { return run->add_option(spelled, target, help); });
  };

  value("-n,--nproc-per-node", flags->nproc_per_node,
        "processes on this machine: a number, cpu, gpu or auto [1; in a job of Slurm's its tasks, or GPUs]");
  value("--min-ranks", flags->min_ranks, "with how many ranks an elastic program goes on when others are lost [1]");
  value("--spares", flags->spares, "processes of an elastic program that wait, ready to take a lost one's place [0]");
  value("--step-timeout", flags->launch.step_timeout,
        "seconds in which some rank of an elastic program completes a step; then who hangs is killed [0: no limit]");
  value("--silence-timeout", flags->launch.silence,
        "seconds after which a worker of an elastic program that gives no sign of life is killed [30; 0: never]");
  value("--nnodes", flags->nnodes,
        "machines, or MIN:MAX where their agents meet; start this command on each [1; in a job of Slurm's all its "
        "nodes, and it is started there]");
  value("--node-rank", flags->node_rank, "which of them this is [0]");
  value("--master-addr", flags->master_addr, "where rank 0 is reached [127.0.0.1]");
  value("--master-port", flags->master_port, "rank 0's port [a free one; 29500 with several machines]");
  value("--rdzv-endpoint", flags->rdzv_endpoint,
        "HOST:PORT, the same as --master-addr and --master-port; of c10d where one agent keeps the membership [port "
        "29400]; of etcd its servers, between commas [port 2379]");
  value("--rdzv-backend", flags->rdzv_backend,
        "static: --node-rank and --master-addr say what a node is; c10d: the agents meet, and nodes may come and go; "
        "etcd: the same, and any node may be lost [static]");
  value("--rdzv-conf", flags->rdzv_conf,
        "of agents that meet, NAME=VALUE between commas, in seconds: join_timeout=600 for the least nodes, "
        "last_call_timeout=30 for more, keep_alive_interval=5 times keep_alive_max_attempt=3 of silence until a node "
        "is lost; is_host; of etcd protocol=http, cacert, cert, key, lease_ttl=5");
  value("--local-addr", flags->local_addr,
        "of agents that meet: where this machine's ranks are reached by others [as the connection shows]");
  value("--rdzv-id", flags->launch.run_id, "the run's name, for log folders and workers [none]");
  value("--role", flags->launch.role, "ROLE_NAME of the workers [default]");
  value("--max-restarts", flags->max_restarts, "how often all ranks start again after one has failed [0]");
  value("--monitor-interval", flags->monitor_interval, "taken and not needed: a worker's end is noticed at once");
  value("--signals-to-handle", flags->signals_to_handle,
        "those that end the launch; the others of these and SIGUSR1, SIGUSR2 reach the workers alone "
        "[SIGTERM,SIGINT,SIGHUP,SIGQUIT]");
  value("--log-dir", flags->launch.log_dir, "keep each rank's stdout.log, stderr.log and error.json in a folder here");
  value("-r,--redirects", flags->output.redirects,
        "what goes to the logs alone: 1 stdout, 2 stderr, 3 both; 0:1,2:3 by local rank [0]");
  value("-t,--tee", flags->output.tee, "what goes to the logs and is shown, in the same way [0]");
  value("--local-ranks-filter", flags->output.local_ranks_filter, "show the output of these alone, 0,2 [all]");
  value("--progress", flags->progress,
        "seconds between lines of how ranks get on, of programs that report it; 0: none [1 on a terminal, where one "
        "line is rewritten; else 0]");
  value("--metrics-port", flags->metrics_port,
        "serve how ranks get on at this port, for Prometheus and tandem top; 0: a free one [none]");
  value("--metrics-addr", flags->launch.metrics_addr, "at this address; whoever reaches it may read it [127.0.0.1]");
  value("--summary-dir", flags->launch.summary_dir,
        "write how ranks get on to a file in this folder, for TensorBoard [none]");
  value("--bind-to", flags->bind_to, "core: each rank computes on cores of its own; none [none]");
  value("--numa-binding", flags->numa_binding,
        "each rank runs near its GPU, or without GPUs as its number says: node (all CPUs of that NUMA node), socket, "
        "exclusive (cores of the node that no other has), core-complex (those of one cache) [anywhere]");
  run->add_flag("--standalone", flags->standalone, "one machine and a free port, which is the default")
      ->envname("PET_STANDALONE");
  run->add_option("--grace", flags->launch.grace, "seconds from SIGTERM to SIGKILL when ranks have to end [5]");
  run->add_flag("--no-prefix", flags->no_prefix, "do not begin each line with its rank");
  run->add_option("--env", flags->launch.environment, "NAME=VALUE for every worker; may be repeated")
      ->allow_extra_args(false)
      ->take_all();
  run->add_flag("-m,--module", flags->module, "the program is a Python module")->envname("PET_MODULE");
  aliased("--no-python", [&](const std::string& n) {
    return run->add_flag(n, flags->no_python, "run a file that ends in .py itself, not by Python");
  });
  aliased("--shared-parameters", [&](const std::string& n) {
    return run->add_flag(n, flags->launch.shared_parameters,
                         "memory for parameters that all processes train (Hogwild!); who is lost does not end the others, "
                         "and is started again alone, as often as --max-restarts says");
  });
  run->add_option("--python", flags->python, "the Python for .py files [python3]")->envname("PYTHON_EXEC");

  HostFlags& hosts = flags->hosts;
  run->add_option("-H,--hosts", hosts.hosts,
                  "HOST:SLOTS,…: start SLOTS [1] processes on each of these machines, by ssh");
  run->add_option("--hostfile", hosts.hostfile, "a file that names them, a line each: HOST slots=N, or HOST:N");
  run->add_option("-x,--export", hosts.exports, "NAME or NAME=VALUE: a variable for these machines; may be repeated")
      ->allow_extra_args(false)
      ->take_all();
  run->add_option("--remote-tandem", hosts.remote_tool, "where this tool is on them [at the same path as here]");
  run->add_option("--ssh-args", hosts.ssh_args,
                  "words for ssh, as '-p 2222'; TANDEM_SSH names another program than ssh");
  run->add_option(
      "--host-discovery-script", hosts.discovery_script,
      "a command that prints HOST:SLOTS lines, asked every few seconds: hosts come while --nnodes MIN:MAX allows");

  run->add_option("--agent", flags->agent)->group("");
  run->add_flag("--only-job", flags->launch.is_only_job)->group("");
  run->add_flag("--tell-end", flags->launch.tells_end)->group("");

  run->callback([run, flags, exit_code, arguments] {
    refuse_unsupported_variables();
    const std::vector<std::string> command = command_of(run->remaining());
    if (const auto plan = plan_for_hosts(*flags)) {
      const std::vector<std::string>& own = flags_of_hosts();
      *exit_code = launch_on_hosts(*plan, passed_flags(*run, {own.begin(), own.end()}), command,
                                   signals_of(flags->signals_to_handle), flags->launch.grace);
      return;
    }
    if (const auto plan = plan_for_allocation(*flags)) {
      const std::vector<std::string> after_run(arguments.begin() + 1, arguments.end());
      *exit_code = launch_in_allocation(*plan, after_run, signals_of(flags->signals_to_handle), flags->launch.grace);
      return;
    }
    *exit_code = launch(resolve(*flags, command));
  });
}

}  // namespace tandem::launch
