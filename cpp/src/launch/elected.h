// The membership of a job whose agents elect the one that keeps it.
#pragma once

#include <memory>

#include "launch/interruptions.h"
#include "launch/options.h"
#include "membership/membership.h"

namespace tandem::launch {

// By etcd. Throws Failure where its servers cannot be found within the time for joining.
std::unique_ptr<membership::Membership> elected_membership(const LaunchOptions& options, int free_port,
                                                           Interruptions& interruptions);

}  // namespace tandem::launch
