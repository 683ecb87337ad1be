// What `tandem run` was asked to do.
#pragma once

#include <string>
#include <vector>

namespace tandem::launch {

struct LaunchOptions {
  int nproc_per_node = 1;
  int nnodes = 1;
  int node_rank = 0;
  std::string master_addr = "127.0.0.1";
  int master_port = 0;  // 0: a free one
  std::string run_id = "none";
  std::string role = "default";
  std::string log_dir;  // empty: no log files
  double grace = 5;     // seconds between the polite signal and SIGKILL
  bool prefix = true;
  std::vector<std::vector<int>> cpus;    // of each worker; empty: all
  std::vector<std::string> environment;  // "NAME=value", set in every worker
  std::string executable;                // found and executable
  std::vector<std::string> arguments;    // from argv[0] on

  int world_size() const { return nproc_per_node * nnodes; }
  int rank(int local_rank) const { return node_rank * nproc_per_node + local_rank; }
};

}  // namespace tandem::launch
