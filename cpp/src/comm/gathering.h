// How ranks that connect through Gloo come together.
#pragma once

#include "comm/gloo_backend.h"
#include "comm/rendezvous.h"
#include "tandem/process_group.h"

namespace tandem {

// What this rank tells the others, but for how to connect to it.
Member introduce(const ProcessGroupOptions& options, const Meeting& meeting);

struct Gathered {
  GlooDevices devices;
  Roster roster;
};

// Listens where the options, the environment or the store's address say, and meets the other ranks, who are told.
Gathered gather(const ProcessGroupOptions& options, const Meeting& meeting, const std::atomic<bool>& cancelled);

// Connects those that gather() brought together. `store` is for this alone. Errors: kPeerLost.
c10::intrusive_ptr<c10d::Backend> connect_gloo(const Gathered& gathered, const ProcessGroupOptions& options,
                                               const std::shared_ptr<GroupState>& state, const Store& store);

}  // namespace tandem
