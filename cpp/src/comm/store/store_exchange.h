// What the ranks of a group that works tell each other through the store.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/bootstrap/bootstrap.h"
#include "comm/store/store_limit.h"

namespace tandem {

// The bytes of all ranks. `calls` ends the wait; `check` is called again and again while it lasts, on another thread,
// and may throw: that is the error then. Errors: kTimeout naming the ranks that are missing, on every rank that came
// and on those that come later; kTimeout and kPeerLost of a store that does not answer or is gone.
std::vector<std::string> exchange_through_store(Bootstrap& bootstrap, const std::string& bytes,
                                                std::chrono::milliseconds timeout,
                                                const std::shared_ptr<StoreInterrupt>& calls,
                                                std::function<void()> check);

}  // namespace tandem
