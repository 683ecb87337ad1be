// A group's backend for the tensors of one kind of device, or of several.
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "comm/backend_map.h"
#include "comm/bootstrap/group_bootstrap.h"
#include "comm/group_backend.h"
#include "comm/group_state.h"
#include "comm/store/store_limit.h"
#include "tandem/process_group.h"
#include "tandem/runtime.h"

namespace tandem {

inline c10::DeviceType to_device_type(DeviceKind device) {
  return device == DeviceKind::kCpu ? c10::kCPU : c10::kCUDA;
}

// Gives up meeting the others when the program shuts down meanwhile. Of one thread.
struct Cancellation {
  std::atomic<bool> cancelled{false};
  const std::shared_ptr<StoreInterrupt> store_calls = std::make_shared<StoreInterrupt>();
  const StoreLimit limit{store_calls};
  ShutdownHook hook{"a process group that is being made", [this] {
                      cancelled = true;
                      store_calls->interrupt();
                    }};
};

struct Channel {
  BackendKind kind = BackendKind::kGloo;  // never kAuto
  std::vector<DeviceKind> devices;
  std::shared_ptr<GroupState> state;
  WaitableStore
      store;  // of this channel alone, where there are other ranks; sub-groups, which outlive it, meet there, too
  c10::intrusive_ptr<GroupBackend> backend;
  c10d::ProcessGroup::BackendType type = c10d::ProcessGroup::BackendType::UNDEFINED;

  // Meets the other ranks, whose options name the same backends, and connects to them. Blocks. All of a group's
  // channels have one latch.
  static std::shared_ptr<Channel> open(const BackendEntry& entry, const ProcessGroupOptions& options,
                                       const Rendezvous& rendezvous, const std::shared_ptr<FailureLatch>& latch);

  // By open(): what `kind` names, which may become another.
  ControlledBackend connect(GroupBootstrap& bootstrap, const std::atomic<bool>& cancelled);

  // Keys of its store under "prefix/", in calls that end with the group.
  Store own_store(const std::string& prefix) const;

  // That this rank is connected to all others. Throws nothing.
  void tell_connected() const;
  // Waits, not for long, until all ranks have connected to each other: those that have not would take the end of this
  // rank's connections for a failure to connect.
  void await_connected() const;
  bool serves(c10::DeviceType device) const;
  // The backend takes only the dtypes that it computes with.
  bool few_types() const { return kind == BackendKind::kGloo; }

  // Aborts what is pending. When nothing is, peers only learn that this rank takes part in nothing more, and their next
  // collective fails.
  void end(const std::string& reason);
};

}  // namespace tandem
