// `tandem run -H`: agents on several machines, started by ssh.
#pragma once

#include <string>
#include <vector>

#include "launch/hosts_plan.h"

namespace tandem::launch {

// Starts an agent on each host with `flags` (the same for all), the plan's and `command`, passes signals on and output
// through, and returns the job's exit code. The end of their stdin ends the agents: when this process is killed, they
// end. Where a command names the hosts, the job begins with the least of them, and later ones get an agent while there
// are fewer than the most; the job ends with the first one's, which keeps the membership.
//
// A host whose agent fails ends the job, unless as many as the plan's least are left: then the others go on.
int launch_on_hosts(HostsPlan plan, const std::vector<std::string>& flags, const std::vector<std::string>& command,
                    const std::vector<int>& ending, double grace);

}  // namespace tandem::launch
