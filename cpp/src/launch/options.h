// What `tandem run` was asked to do.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "launch/output_choice.h"

namespace tandem::launch {

struct EtcdServer {
  std::string host;
  int port = 2379;
};

// Of --rdzv-backend etcd.
struct EtcdOptions {
  std::vector<EtcdServer> servers;  // of one cluster
  std::string protocol = "http";
  std::string user, password;
  std::string ca_file, certificate_file, key_file;
  int lease = 5;  // seconds of the keeper's silence, after which another one is elected
};

struct LaunchOptions {
  int nproc_per_node = 1;           // on this node
  std::vector<int> ranks_of_nodes;  // where nodes differ; empty: nproc_per_node on each
  int spares = 0;                   // processes beside those, which wait to take the place of one
  int min_ranks = 1;                // with which an elastic program goes on
  int nnodes = 1;
  int node_rank = 0;
  // Agents that meet, each starting what one `tandem run` was asked for: --rdzv-backend c10d or etcd. Where they do,
  // what the nodes are and which this is comes of it (launch/meeting.h).
  bool meets = false;
  int least_nodes = 1;  // nnodes is the most
  bool elects = false;  // who keeps the membership, by etcd; else it is the agent at:
  EtcdOptions etcd;
  std::string keeper_host;
  int keeper_port = 29400;
  std::optional<bool> keeps;  // whether it is this one; else who has the address is, or is elected
  std::string local_addr;     // where others reach this node's ranks; "": as the connection to the keeper shows
  double join_timeout = 600;  // seconds for the least nodes to come
  double last_call = 30;      // seconds for more than those
  double keep_alive = 15;     // seconds of an agent's silence, after which its node is lost
  int first_rank = -1;        // of this node, once they have met; and of all
  int all_ranks = 0;
  double silence = 30;      // seconds without a sign of an elastic worker's life, after which it is killed; 0: for ever
  double step_timeout = 0;  // seconds in which a rank has to complete a step; 0: there is no limit
  std::string master_addr = "127.0.0.1";
  int master_port = 0;  // 0: a free one
  std::string run_id = "none";
  bool is_only_job = false;  // of that name: who started this agent has drawn it
  bool tells_end = false;    // to who started this agent, by its last line: launch/remote_agent.h
  std::string role = "default";
  std::string log_dir;  // empty: no log files but those that `output` asks for
  std::vector<OutputChoice> output;  // of each worker
  bool is_agent = false;             // stdin says which signals came: launch/agent_control.h
  int max_restarts = 0;              // of all workers, after one has failed; of one that an elastic program has lost
  std::vector<int> ending_signals;   // those that end the launch
  double grace = 5;     // seconds between the polite signal and SIGKILL
  bool prefix = true;
  int cores = 1;                         // that the workers share
  std::vector<std::vector<int>> cpus;    // of each worker; empty: all
  bool owns_cpus = false;                // each worker: no other one has them
  std::vector<std::string> environment;  // "NAME=value", set in every worker
  bool shared_parameters = false;        // workers have memory for those, and go on without one that is lost
  std::optional<double> progress;  // seconds between lines of how ranks get on; 0: none. Unset: on a terminal alone
  std::optional<int> metrics_port;       // for Prometheus; 0: a free one
  std::string metrics_addr = "127.0.0.1";
  std::string summary_dir;               // of TensorBoard's files about the ranks; empty: none
  std::string executable;                // found and executable
  std::vector<std::string> arguments;    // from argv[0] on

  bool keeps_logs() const {
    return !log_dir.empty() || std::ranges::any_of(output, [](auto& one) { return one.keeps_out || one.keeps_err; });
  }
  int processes() const { return nproc_per_node + spares; }
  int world_size() const { return first_rank >= 0 ? all_ranks : ranks_before(nnodes); }
  int rank(int local_rank) const { return (first_rank >= 0 ? first_rank : ranks_before(node_rank)) + local_rank; }

 private:
  int ranks_before(int node) const {
    if (ranks_of_nodes.empty()) return node * nproc_per_node;
    return std::accumulate(ranks_of_nodes.begin(), ranks_of_nodes.begin() + node, 0);
  }
};

}  // namespace tandem::launch
