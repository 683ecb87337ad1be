// How ranks of several hosts come together.
#pragma once

#include "comm/hosts/host_map.h"
#include "comm/shm/connect.h"

namespace tandem::hosts {

// Connects all ranks: those of this host as shm::connect() does, all by Gloo and by the failure channel. Errors: as the
// parts'.
c10::intrusive_ptr<ShmBackend> connect(const shm::Connecting& connecting, const HostMap& map,
                                       const std::shared_ptr<GroupState>& state);

}  // namespace tandem::hosts
