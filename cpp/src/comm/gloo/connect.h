// How ranks connect through Gloo.
#pragma once

#include <memory>
#include <vector>

#include "comm/bootstrap/group_bootstrap.h"
#include "comm/gloo/devices.h"
#include "comm/gloo/gloo_backend.h"

namespace tandem {

// How many more descriptors Gloo opens to connect a rank to the others of a group of `size`: a socket for each, on each
// device; and a few for a moment.
std::size_t descriptors_of_gloo(const GlooDevices& devices, int size);

// Listens where the options, the environment or the store's address say, and tells the other ranks; `ranks` becomes
// what all say. Errors: as GroupBootstrap::exchange(); kNotFound for an interface that is not there.
GlooDevices exchange_gloo_listeners(GroupBootstrap& bootstrap, std::vector<RankInfo>* ranks);

// Connects all ranks, which exchange_gloo_listeners() gave. Errors: kPeerLost; those of the bootstrap.
c10::intrusive_ptr<GlooBackend> connect_gloo(GroupBootstrap& bootstrap, const GlooDevices& devices,
                                             const std::vector<RankInfo>& ranks,
                                             const std::shared_ptr<GroupState>& state);

}  // namespace tandem
