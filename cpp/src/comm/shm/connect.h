// How ranks of the shm backend come together.
#pragma once

#include "comm/rendezvous.h"
#include "comm/shm/shm_backend.h"
#include "tandem/process_group.h"

namespace tandem::shm {

// Meets the other ranks, whose backend has the same name. Empty when they are on several hosts.
// Errors: as assemble() and connect_peers().
c10::intrusive_ptr<ShmBackend> connect(const ProcessGroupOptions& options, const Meeting& meeting, Member self,
                                       const std::shared_ptr<GroupState>& state, Store* store,
                                       const std::atomic<bool>& cancelled, Roster* roster);

// "ranks 0, 1 on alpha; rank 2 on beta".
std::string hosts_of(const Roster& roster);

}  // namespace tandem::shm
