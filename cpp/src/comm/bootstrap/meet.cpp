#include "comm/bootstrap/meet.h"

#include <algorithm>

#include "comm/channel.h"
#include "comm/environment.h"
#include "comm/sockets.h"
#include "comm/store/store_endpoint.h"
#include "tandem/error.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kNextServer{30000};

// This machine's, as those see it that share the store; "" where that has no address. The machine's name may be a loopback
// address on itself.
std::string address_towards(const Store& store) {
  const net::Endpoint endpoint = store_endpoint(store);
  return endpoint.port != 0 ? net::local_address_towards(endpoint) : "";
}

}  // namespace

void meet(const MeetingPlace& place, const Store& store, const std::function<void(const Rendezvous&)>& join) {
  Rendezvous rendezvous;
  rendezvous.rank = place.rank;
  rendezvous.world_size = place.world_size;
  if (store) {
    read_rank_and_size(&rendezvous.rank, &rendezvous.world_size);
    rendezvous.store = WaitableStore(store);
    rendezvous.place = "the given store";
    rendezvous.local_address = address_towards(store);
    return join(rendezvous);
  }
  Cancellation cancellation;
  const auto open = [&](milliseconds timeout) {
    return open_rendezvous(place.init_method, place.rank, place.world_size, timeout, cancellation.cancelled);
  };
  rendezvous = open(place.timeout);
  const auto deadline = std::chrono::steady_clock::now() + place.timeout;
  for (;;) {
    try {
      return join(rendezvous);
    } catch (const Error& error) {
      const auto left = std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
      if (error.code() != ErrorCode::kPeerLost || left.count() <= 0 || !met_an_ending_store(rendezvous)) throw;
      // Where others may use the store still, its server's end may be a failure.
      const auto most = rendezvous.is_shared ? std::min(left, kNextServer) : left;
      try {
        rendezvous = open(most);
      } catch (const Error& later) {
        if (later.code() == ErrorCode::kAborted) throw;
        throw Error(error.code(), error.what());
      }
      rendezvous.store.store()->setTimeout(place.timeout);
    }
  }
}

}  // namespace tandem
