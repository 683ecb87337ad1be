// How the agents of a job on several machines find each other.
#pragma once

#include <exception>
#include <memory>

#include "base/descriptor.h"
#include "launch/failure.h"
#include "launch/options.h"
#include "launch/signals.h"
#include "membership/membership.h"

namespace tandem::launch {

// Of a launch on this machine alone.
std::unique_ptr<membership::Membership> membership_alone(const LaunchOptions& options);

// Waits until the nodes are there that the job begins with, and writes into `options` which of them this is. The agent
// that can listen at the endpoint keeps the membership, the others connect to it. `free_port`: one that is kept free
// for the store of rank 0. Throws Failure where they do not come, where this one is not taken, after a signal that ends
// the launch, and when `lifeline` says that the front process is gone.
std::unique_ptr<membership::Membership> meet_nodes(LaunchOptions& options, int free_port, const Signals& signals,
                                                   const Descriptor& lifeline);

// Tells the others that this agent cannot start its workers. Returns once they know, or soon.
void say_farewell(membership::Membership& membership, const std::exception& error);

}  // namespace tandem::launch
