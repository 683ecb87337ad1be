// Two ranks over NCCL that share one GPU, as processes. NCCL refuses two ranks of one host on one GPU; with a host
// identity of its own each goes through sockets on loopback, as between hosts.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cpp/comm/job.h"
#include "gpu/gpu.h"

namespace tandem::testing::two_ranks {

using std::chrono::seconds;

// --- in a rank

inline std::shared_ptr<ProcessGroup> group_on_gpu(const std::string& backend = "nccl") {
  ProcessGroupOptions options = from_environment();
  options.backend = backend;
  options.device = kGpu;
  return ProcessGroup::create(options);
}

// What a rank can be told to do: a name, and a function of the arguments after it.
using Role = std::function<int(const std::vector<std::string>&)>;

inline std::map<std::string, Role>& roles() {
  static std::map<std::string, Role> all;
  return all;
}

struct AddRole {
  AddRole(const std::string& name, Role role) { roles()[name] = std::move(role); }
};

inline int run_role(std::vector<std::string> arguments) {
  const auto found = roles().find(arguments.at(0));
  if (found == roles().end()) {
    std::fprintf(stderr, "no role is named '%s'\n", arguments[0].c_str());
    return 2;
  }
  load_cuda();
  arguments.erase(arguments.begin());
  return found->second(arguments);
}

// --- in the test

class TwoRanks : public Gpu {
 protected:
  void start(const std::vector<std::string>& role, const std::string& timeout_ms = "60000") {
    const Job job(Environment{{"TEST_TIMEOUT_MS", timeout_ms}, {"NCCL_SOCKET_IFNAME", "lo"}, {"LOCAL_RANK", "0"}});
    std::vector<std::string> arguments = {"--role"};
    arguments.insert(arguments.end(), role.begin(), role.end());
    for (int rank = 0; rank < 2; ++rank) {
      ranks_.push_back(job.start(arguments, rank, 2, {{"NCCL_HOSTID", "host-" + std::to_string(rank)}}));
    }
  }
  void expect_both(const std::string& line) {
    for (const auto& rank : ranks_) EXPECT_EQ(rank->line(seconds(120)), line);
  }
  void expect_end() {
    for (const auto& rank : ranks_) EXPECT_EQ(rank->wait(), 0);
  }

  std::vector<std::unique_ptr<Child>> ranks_;
};

}  // namespace tandem::testing::two_ranks
