#include "elastic/queue_meeting.h"

#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "base/host.h"
#include "base/invalid.h"
#include "comm/requests/server_connection.h"
#include "comm/sockets.h"
#include "comm/store/store_endpoint.h"
#include "comm/store/store_limit.h"
#include "tandem/error.h"

namespace tandem::elastic {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr char kKeeper[] = "keeper";  // the key
constexpr char kNobody[] = "?";       // is no keeper
// For a keeper to say that it knows that its generation is over.
constexpr milliseconds kMostForFence{500};

void check_membership(const LeaseMembership& membership) {
  if (!membership.store) invalid("ranks need a store to share a queue of leases");
  if (membership.name.empty()) invalid("a loader needs a name among those that share a store");
  if (membership.generation < 1 || membership.world_size < 1) {
    invalid("generation and world_size of a membership must be at least 1");
  }
  if (membership.rank < 0 || membership.rank >= membership.world_size) {
    invalid("rank " + std::to_string(membership.rank) + " is not within a world of " +
            std::to_string(membership.world_size));
  }
}

// Who keeps the queue, as the store has it.
struct Keeper {
  std::int64_t generation = 0;
  std::int32_t rank = 0;
  net::GuardedAddress address;
  std::string host;  // its identity

  std::string bytes() const {
    return std::to_string(generation) + " " + std::to_string(rank) + " " + address.encode() + " " + host;
  }
  static Keeper parse(const std::string& bytes) {
    Keeper keeper;
    std::istringstream in(bytes);
    net::GuardedAddress& address = keeper.address;
    in >> keeper.generation >> keeper.rank >> address.endpoint.address >> address.endpoint.port >> address.password;
    if (in && address.password.size() == net::GuardedListener::kPasswordBytes) {
      std::getline(in >> std::ws, keeper.host);
      return keeper;
    }
    throw Error(ErrorCode::kDataLoss,
                "the store does not say who keeps the queue of leases, but '" + bytes.substr(0, 100) + "'");
  }
};

class Meeting {
 public:
  Meeting(const LeasePlan& plan, const LeaseMembership& membership, milliseconds lost_after, milliseconds timeout)
      : plan_(plan),
        membership_(membership),
        self_{membership.generation, membership.rank, membership.world_size},
        lost_after_(lost_after),
        timeout_(timeout) {
    const StoreLimit limit(Clock::now() + timeout);
    try {
      store_ = prefix_store("tandem/leases/" + membership.name, membership.store->clone());
    } catch (...) {
      rethrow_store_error("a connection of a loader's own to the store");
    }
  }

  MetQueue run() {
    std::string known = exchange(kNobody, kNobody);
    if (known == kNobody) known.clear();  // so stores answer for a key that is not there
    for (;;) {
      if (!known.empty()) {
        const Keeper keeper = Keeper::parse(known);
        if (keeper.generation > self_.generation) throw_given_up(self_, keeper.generation);
        if (keeper.generation == self_.generation) {
          if (auto connection = connect(keeper)) return {nullptr, channel(keeper, *std::move(connection))};
          require_certain_end(keeper);
        }
      }
      auto host = std::make_unique<LeaseHost>(plan_, self_.generation, self_.rank, lost_after_, own_address());
      const Keeper mine{self_.generation, self_.rank, host->address(), host_identity()};
      const std::string wanted = mine.bytes();
      std::string now = exchange(known, wanted);
      if (now != wanted) {  // another rank came first, or the key was deleted
        known = now == known ? "" : std::move(now);
        continue;
      }
      if (!known.empty()) fence(Keeper::parse(known));
      host->start();
      auto connection = connect(mine);
      if (!connection) throw Error(ErrorCode::kIo, "cannot connect to " + net::to_string(mine.address.endpoint));
      return {LingeringHost(host.release()), channel(mine, *std::move(connection))};
    }
  }

 private:
  std::string exchange(const std::string& expected, const std::string& wanted) {
    const StoreLimit limit(Clock::now() + timeout_);
    try {
      return store_->compareSet(kKeeper, expected, wanted);
    } catch (...) {
      rethrow_store_error("finding out who keeps the queue of leases");
    }
  }

  // Where the others of the store can reach this machine.
  std::string own_address() const {
    const net::Endpoint store = store_endpoint(membership_.store);
    const std::string address = store.port != 0 ? net::local_address_towards(store) : "";
    return address.empty() || net::is_loopback(address) ? "127.0.0.1" : address;
  }

  std::string name_of(const Keeper& keeper) const {
    return "rank " + std::to_string(keeper.rank) + ", which keeps the queue of leases of '" + membership_.name + "'";
  }

  // Nothing where it is gone.
  std::optional<Descriptor> connect(const Keeper& keeper) const {
    if (keeper.host != host_identity() && net::is_loopback(keeper.address.endpoint.address)) {
      throw Error(ErrorCode::kUnsupported,
                  name_of(keeper) + ", is on another machine, and reached by loopback alone, as the store is; " +
                      "let ranks of several machines meet in a TCP store at an address that all of them reach");
    }
    const auto deadline = Clock::now() + most_silence(lost_after_, timeout_);
    return requests::connect_to_server(keeper.address, name_of(keeper), deadline);
  }

  // Two keepers of one generation would deal each part twice, and what refuses connections between machines may be a
  // firewall.
  void require_certain_end(const Keeper& keeper) const {
    if (keeper.host == host_identity()) return;
    throw Error(ErrorCode::kPeerLost, name_of(keeper) + ", is gone; begin another generation: " + kAdvice);
  }

  std::unique_ptr<LeaseChannel> channel(const Keeper& keeper, Descriptor connection) const {
    return std::make_unique<LeaseChannel>(self_, name_of(keeper), std::move(connection), lost_after_, timeout_);
  }

  // Whoever still asks it is told that this generation has begun. One that is gone needs no telling, and one that is
  // stopped, or cut off, reads it once it goes on.
  void fence(const Keeper& keeper) const {
    if (keeper.generation >= self_.generation) return;
    const std::string request = LeaseMessage{0, FenceRequest{self_.generation}}.bytes();
    requests::tell_server(keeper.address, request, Clock::now() + kMostForFence);
  }

  const LeasePlan& plan_;
  const LeaseMembership& membership_;
  const LeaseRank self_;
  const milliseconds lost_after_, timeout_;
  Store store_;  // of this object alone: another thread's long wait holds nobody up here
};

}  // namespace

MetQueue meet_at_queue(const LeasePlan& plan, const LeaseMembership& membership, milliseconds lost_after,
                       milliseconds timeout) {
  check_membership(membership);
  return Meeting(plan, membership, lost_after, timeout).run();
}

}  // namespace tandem::elastic
