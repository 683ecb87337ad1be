// What a ProcessGroup consists of, for the files that implement it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "comm/bootstrap/bootstrap.h"
#include "comm/bootstrap/rendezvous.h"
#include "comm/channel.h"
#include "comm/environment_trace.h"
#include "tandem/process_group.h"
#include "tandem/runtime.h"

namespace tandem {

struct ProcessGroup::Parts {
  std::string backend_name;     // what "auto" has become
  ProcessGroupOptions options;  // as given
  Rendezvous rendezvous;        // where sub-groups meet, too
  std::vector<int> global_ranks;
  std::atomic<std::uint64_t> subgroups{0};  // how many were asked for
  std::mutex barrier_mutex;
  std::unique_ptr<Bootstrap> barrier;              // monitored_barrier()
  std::vector<std::shared_ptr<Channel>> channels;  // no device has two; at least one
  c10::intrusive_ptr<c10d::ProcessGroup> native;
  std::mutex beside_mutex;
  std::vector<std::weak_ptr<ProcessGroup>> beside;  // those that are aborted with it
  const std::shared_ptr<EnvironmentTrace> trace = std::make_shared<EnvironmentTrace>();
  std::unique_ptr<ShutdownHook> hook;

  // Of what has no tensor: the CPU's, where there is one.
  Channel& main() const { return *channels.front(); }
};

// Makes groups of ranks that have a rendezvous.
class GroupMaker {
 public:
  static std::shared_ptr<ProcessGroup> make(const ProcessGroupOptions& options, const Rendezvous& rendezvous,
                                            std::vector<int> global_ranks);
};

}  // namespace tandem
