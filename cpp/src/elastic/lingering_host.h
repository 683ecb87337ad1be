// Who keeps a queue of leases for others after its own rank has left.
#pragma once

#include <memory>

#include "elastic/lease_host.h"

namespace tandem::elastic {

struct LetLinger {
  void operator()(LeaseHost* host) const;
};
// One that was started. When its owner is through with it, it goes on until the others have left, too, for as long as
// LeaseHost::leave() says, or until shutdown().
using LingeringHost = std::unique_ptr<LeaseHost, LetLinger>;

}  // namespace tandem::elastic
