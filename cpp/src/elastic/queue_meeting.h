// How the ranks of a generation find the one that keeps their queue of leases.
#pragma once

#include <chrono>
#include <memory>

#include "elastic/lease_channel.h"
#include "elastic/lingering_host.h"
#include "tandem/dynamic_loader.h"

namespace tandem::elastic {

struct MetQueue {
  LingeringHost host;  // where this rank keeps the queue
  std::unique_ptr<LeaseChannel> channel;
};

// The first rank of a generation that comes keeps its queue, and the store, which is used for this alone, says where.
// It tells who kept that of the generation before, if anybody still does, that this is over; so whoever is still there
// is told when it asks next. Where who kept the queue of this very generation is gone, on this machine, the rank keeps
// a new one.
//
// Throws Error(kInvalidArgument) for a membership that cannot be; kAborted where a newer generation has begun; kTimeout
// where who keeps the queue does not answer; kPeerLost where it is gone from another machine; the errors of stores.
MetQueue meet_at_queue(const LeasePlan& plan, const LeaseMembership& membership, std::chrono::milliseconds lost_after,
                       std::chrono::milliseconds timeout);

}  // namespace tandem::elastic
