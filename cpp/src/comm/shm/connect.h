// How ranks of the shm backend come together.
#pragma once

#include "comm/rendezvous.h"
#include "comm/shm/shm_backend.h"
#include "tandem/process_group.h"

namespace tandem::shm {

// What a rank has once all have told each other their doors.
struct Arrival {
  const ProcessGroupOptions& options;
  const Roster& roster;
  const Door& door;  // this rank's
  const std::atomic<bool>& cancelled;
};

// Connects the group's ranks that have the given numbers, all on this host, in this order; `rank` is this one's.
// Errors: as connect_peers().
std::shared_ptr<const Peers> connect_neighbours(const Arrival& arrival, std::vector<int> ranks, int rank);

// Connects all ranks, which are on one host.
c10::intrusive_ptr<ShmBackend> connect(const Arrival& arrival, const std::shared_ptr<GroupState>& state);

}  // namespace tandem::shm
