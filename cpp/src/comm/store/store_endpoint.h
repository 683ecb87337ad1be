// Where a store is served.
#pragma once

#include "comm/sockets.h"
#include "tandem/store.h"

namespace tandem {

// Of a TCP store, also under prefixes; port 0 of another.
net::Endpoint store_endpoint(const Store& store);

}  // namespace tandem
