// How ranks of several hosts come together.
#pragma once

#include "comm/gathering.h"
#include "comm/hosts/host_map.h"
#include "comm/shm/connect.h"

namespace tandem::hosts {

// Connects all ranks: those of this host as shm::connect() does, all by Gloo and by lines. `gathered` is where they
// listen; `store` is what follows for this group. Errors: as the parts'.
c10::intrusive_ptr<ShmBackend> connect(const shm::Arrival& arrival, const HostMap& map, const Gathered& gathered,
                                       const std::shared_ptr<GroupState>& state, Store* store);

}  // namespace tandem::hosts
