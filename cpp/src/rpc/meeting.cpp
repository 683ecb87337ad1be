#include "rpc/meeting.h"

#include <set>

#include "base/host.h"
#include "base/invalid.h"
#include "comm/bootstrap/pack.h"
#include "comm/sockets.h"
#include "comm/store/store_exchange.h"

namespace tandem::rpc {
namespace {

ProcessGroupOptions group_options(const Options& options) {
  ProcessGroupOptions group;
  group.name = "rpc";
  group.backend = "rpc";
  group.timeout = options.timeout;
  return group;
}

void check_names(const std::vector<Worker>& workers) {
  std::map<std::string, int> ids;
  for (const Worker& worker : workers) {
    const auto [found, is_new] = ids.emplace(worker.name, worker.id);
    if (is_new) continue;
    invalid("ranks " + std::to_string(found->second) + " and " + std::to_string(worker.id) + " are both named '" + worker.name +
            "'; give each worker a name of its own");
  }
}

}  // namespace

Meeting::Meeting(const std::string& name, const std::string& address, const Options& options,
                 const Rendezvous& rendezvous)
    : group_(group_options(options)),
      rendezvous_(rendezvous),
      joining_(std::make_unique<GroupBootstrap>(group_, rendezvous_)),
      leaving_(std::make_unique<Bootstrap>(joining_->store().under("leaving"), rendezvous.rank, rendezvous.world_size,
                                           rendezvous.serves_store)) {
  try {
    introduce(name, address, describe_devices(options));
  } catch (const Error& error) {
    refuse(error);
    throw;
  }
}

void Meeting::introduce(const std::string& name, const std::string& address, const std::string& devices) {
  const std::vector<RankInfo> ranks = joining_->exchange(joining_->self());
  const std::vector<std::string> all = joining_->all_gather(pack({name, address, devices}));
  std::vector<std::string> addresses, maps;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    std::vector<std::string> parts = unpack(all[rank]);
    parts.resize(3);
    workers_.push_back({parts[0], static_cast<int>(rank)});
    addresses.push_back(parts[1]);
    maps.push_back(parts[2]);
  }
  check_names(workers_);
  devices_ = agree_on_devices(maps, workers_, rank());
  if (is_one_host(ranks)) return;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (!net::is_loopback(addresses[rank])) continue;
    invalid("the workers are on several hosts, and worker '" + workers_[rank].name + "' on " + ranks[rank].host_name +
            " listens on loopback (" + addresses[rank] +
            "): name an address, or a network interface, that only the job's machines reach, in Options::address or "
            "TP_SOCKET_IFNAME");
  }
}

std::vector<std::string> Meeting::all_gather_leaving(const std::string& bytes, std::chrono::milliseconds timeout,
                                                     std::function<void()> check) {
  try {
    return exchange_through_store(*leaving_, bytes, timeout, std::make_shared<StoreInterrupt>(),
                                  check ? std::move(check) : [] {});
  } catch (const Error& error) {
    std::string names;
    constexpr std::size_t kMost = 16;
    for (std::size_t rank = 0; rank < workers_.size() && rank < kMost; ++rank) {
      names += (rank == 0 ? "'" : ", '") + workers_[rank].name + "'";
    }
    throw Error(error.code(), std::string("shutting RPC down: ") + error.what() + "; workers in order of rank: " + names +
                                  (workers_.size() > kMost ? ", ..." : "") +
                                  ". All workers call shutdown() when they have done their part; see why one has not");
  }
}

std::vector<Worker> Meeting::not_leaving() noexcept {
  std::vector<Worker> workers;
  for (const int rank : leaving_->missing()) workers.push_back(workers_[static_cast<std::size_t>(rank)]);
  return workers;
}

}  // namespace tandem::rpc
