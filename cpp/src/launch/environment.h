// The environment of a worker: torchrun's, so that each launcher can start the other's programs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "launch/options.h"

namespace tandem::launch {

// What is set for one rank; see "Environment Variables" in torch.distributed.run. `attempt` counts restarts of all
// ranks.
std::map<std::string, std::string> worker_variables(const LaunchOptions& options, int attempt, int local_rank,
                                                    int master_port, const std::string& error_file);

// The process's own environment with `variables` in place of those of the same name, as "NAME=value".
std::vector<std::string> merged_environment(const std::map<std::string, std::string>& variables);

}  // namespace tandem::launch
