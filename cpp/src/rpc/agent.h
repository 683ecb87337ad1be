// LibTorch's agent: threads, connections, and what its messages mean. Nothing else of this room makes or ends one.
#pragma once

#include <torch/csrc/distributed/rpc/tensorpipe_agent.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/bootstrap/gathered_store.h"
#include "rpc/agent_store.h"
#include "rpc/devices.h"
#include "rpc/function_pool.h"

namespace tandem::rpc {

struct AgentOptions {
  std::string name;
  int rank = 0, world_size = 1;
  std::string address;  // numeric
  int threads = 16, most_threads = 1024;  // as in Options
  DeviceMaps devices;
  std::chrono::milliseconds rpc_timeout{60000};
};

class Agent {
 public:
  using Native = torch::distributed::rpc::TensorPipeAgent;

  // Starts to listen, tells the others by `all_gather`, which is called alike on all workers, and makes LibTorch's
  // singletons: one a process. Throws what LibTorch and all_gather() throw.
  Agent(const AgentOptions& options, GatheredStore::AllGather all_gather);

  Native& native() { return *native_; }
  FunctionPool& pool() { return pool_; }
  // Of this worker's calls, internal ones too, that have no answer yet.
  std::int64_t active_calls();
  // From now on connections that end are nothing to report.
  void expect_end();
  // Fails what is under way and ends connections; waits for functions that others called and that have begun. To be called
  // once.
  void end();

 private:
  const AgentOptions options_;
  c10::intrusive_ptr<AgentStore> store_;
  FunctionPool pool_;  // outlives no agent: LibTorch keeps its own for good, but takes nothing after end()
  std::shared_ptr<Native> native_;
};

}  // namespace tandem::rpc
