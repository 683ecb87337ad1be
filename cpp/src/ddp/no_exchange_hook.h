// The communication hook of a group that exchanges nothing (backend "none").
#pragma once

#include <torch/csrc/distributed/c10d/comm.hpp>

#include <memory>

namespace tandem {

// Leaves each rank its own gradients. Without a hook the reducer divides by the group's size what then nobody adds up,
// and a rank would train with a fraction of its gradients, not as it does alone.
std::unique_ptr<c10d::CommHookInterface> make_no_exchange_hook();

}  // namespace tandem
