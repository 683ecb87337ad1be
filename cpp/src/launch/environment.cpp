#include "launch/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "launch/process_tree.h"

namespace tandem::launch {
namespace {

std::string names_of(const std::vector<int>& signals) {
  std::string names;
  for (const int signal : signals) names += (names.empty() ? "" : ",") + signal_name(signal);
  return names;
}

}  // namespace

std::map<std::string, std::string> worker_variables(const LaunchOptions& options, int attempt, int local_rank,
                                                    int master_port, const std::string& error_file) {
  const std::string rank = std::to_string(options.rank(local_rank));
  const std::string world_size = std::to_string(options.world_size());
  std::map<std::string, std::string> variables = {
      {"RANK", rank},
      {"LOCAL_RANK", std::to_string(local_rank)},
      {"GROUP_RANK", std::to_string(options.node_rank)},
      {"ROLE_RANK", rank},
      {"ROLE_NAME", options.role},
      {"LOCAL_WORLD_SIZE", std::to_string(options.nproc_per_node)},
      {"WORLD_SIZE", world_size},
      {"GROUP_WORLD_SIZE", std::to_string(options.nnodes)},
      {"ROLE_WORLD_SIZE", world_size},
      {"MASTER_ADDR", options.master_addr},
      {"MASTER_PORT", std::to_string(master_port)},
      {"TORCHELASTIC_RESTART_COUNT", std::to_string(attempt)},
      {"TORCHELASTIC_MAX_RESTARTS", std::to_string(options.max_restarts)},
      {"TORCHELASTIC_RUN_ID", options.run_id},
      // Rank 0 is the store's server; no agent is.
      {"TORCHELASTIC_USE_AGENT_STORE", "False"},
      {"TORCHELASTIC_ERROR_FILE", error_file},
      {"TORCHELASTIC_SIGNALS_TO_HANDLE", names_of(options.ending_signals)},
  };
  // Several processes that each use all cores are slower than each with its share (torchrun gives each one thread).
  if (options.nproc_per_node > 1 && !std::getenv("OMP_NUM_THREADS")) {
    variables["OMP_NUM_THREADS"] = std::to_string(std::max(options.cores / options.nproc_per_node, 1));
  }
  // Tensors in huge pages: steps that memory bounds are faster. glibc reads this before a program can set it.
  if (!std::getenv("GLIBC_TUNABLES")) variables["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=1";
  // Whether it shares its cores with other ranks cannot be seen from a worker.
  if (options.owns_cpus || std::getenv("TANDEM_BIND_TO")) {
    variables["TANDEM_BIND_TO"] = options.owns_cpus ? "core" : "none";
  }
  // A worker writes to a pipe; this tells its progress bar whether a terminal is behind it.
  if (isatty(STDOUT_FILENO)) variables["TANDEM_TERMINAL"] = "1";
  for (const std::string& setting : options.environment) {
    const std::size_t equals = setting.find('=');
    variables[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return variables;
}

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (!variables.count(text.substr(0, text.find('=')))) result.push_back(text);
  }
  for (const auto& [name, value] : variables) result.push_back(name + "=" + value);
  return result;
}

}  // namespace tandem::launch
