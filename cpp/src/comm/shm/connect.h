// How ranks of the shm backend come together.
#pragma once

#include <atomic>
#include <vector>

#include "comm/bootstrap/group_bootstrap.h"
#include "comm/shm/shm_backend.h"

namespace tandem::shm {

// What each rank of the shm backend connects with.
struct Connecting {
  GroupBootstrap& bootstrap;
  const std::vector<RankInfo>& ranks;  // of all
  const LocalListener& listener;       // this rank's
  const std::atomic<bool>& cancelled;
};

// How many more descriptors it takes to share memory with `others` ranks: a socket for each, and a few for a moment.
std::size_t descriptors_of_shm(std::size_t others);

// Connects the group's ranks that have the given numbers, all on this host, in this order. Errors: as connect_local().
std::shared_ptr<const LocalConnections> connect_local_ranks(const Connecting& connecting, std::vector<int> numbers);

// Connects all ranks, which are on one host.
c10::intrusive_ptr<ShmBackend> connect(const Connecting& connecting, const std::shared_ptr<GroupState>& state);

}  // namespace tandem::shm
