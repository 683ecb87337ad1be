#include "comm/bootstrap/group_bootstrap.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/host.h"
#include "comm/bootstrap/pack.h"
#include "comm/cores.h"
#include "comm/store/store_limit.h"
#include "tandem/error.h"

namespace tandem {
namespace {

constexpr const char* kEnded = "ended";

// Which process has joined a group as which rank.
struct Joined {
  std::string process;
  std::string host_identity;
  std::string host_name;
  std::string state;  // kEnded once the rank knows how its first exchange ended

  std::string encode() const { return pack({process, host_identity, host_name, state}); }
  static Joined decode(const std::string& bytes) {
    std::vector<std::string> parts = unpack(bytes);
    parts.resize(4);
    return {parts[0], parts[1], parts[2], parts[3]};
  }
};

Joined this_process(const std::string& state) {
  return {std::to_string(getpid()), tandem::host_identity(), tandem::host_name(), state};
}

std::string member_key(int rank) {
  return "member/" + std::to_string(rank);
}

std::string purpose(const ProcessGroupOptions& options, const Rendezvous& rendezvous) {
  return "meeting the other ranks of group '" + options.name + "' at " + rendezvous.place;
}

Error joined_twice(const ProcessGroupOptions& options, const Rendezvous& rendezvous, const Joined& other) {
  return Error(ErrorCode::kInvalidArgument,
               "rank " + std::to_string(rendezvous.rank) + " has already joined group '" + options.name + "' at " +
                   rendezvous.place + " (process " + other.process + " on " + other.host_name +
                   "): either two processes were started with the same RANK, or the store is left over from an " +
                   "earlier run; give each process a rank of its own, or use a new store");
}

// Where the group that this rank joins has its keys: in each group under a name others, by how often the rank joined
// one.
WaitableStore join(const ProcessGroupOptions& options, const Rendezvous& rendezvous) {
  if (rendezvous.is_for_one_group) return rendezvous.store;
  const StoreLimit limit(Bootstrap::Clock::now() + options.timeout);
  try {
    const WaitableStore groups = rendezvous.store.under("group/" + options.name);
    const auto number = groups.store()->add("joins/" + std::to_string(rendezvous.rank), 1) - 1;
    const WaitableStore group = groups.under(std::to_string(number));
    const std::string mine = member_key(rendezvous.rank);
    if (number > 0) {
      const Store before = groups.under(std::to_string(number - 1)).store();
      const Joined last = before->check({mine}) ? Joined::decode(before->get_to_str(mine)) : Joined();
      const Joined self = this_process("");
      const bool is_this_process = last.process == self.process && last.host_identity == self.host_identity;
      if (!is_this_process || last.state != kEnded) throw joined_twice(options, rendezvous, last);
      before->deleteKey(mine);
    }
    group.store()->set(mine, this_process("joins").encode());
    return group;
  } catch (...) {
    rethrow_store_error(purpose(options, rendezvous));
  }
}

}  // namespace

std::string RankInfo::encode() const {
  std::vector<std::string> parts = {std::to_string(world_size), host_name, host_identity,
                                    std::to_string(process),    backend,   local_listener,
                                    std::to_string(cores)};
  for (const net::Endpoint& listener : listeners) {
    parts.push_back(listener.address);
    parts.push_back(std::to_string(listener.port));
  }
  return pack(parts);
}

RankInfo RankInfo::decode(const std::string& bytes) {
  std::vector<std::string> parts = unpack(bytes);
  if (parts.size() < 7) parts.resize(7);
  RankInfo info;
  info.world_size = std::atoi(parts[0].c_str());
  info.host_name = parts[1];
  info.host_identity = parts[2];
  info.process = std::atol(parts[3].c_str());
  info.backend = parts[4];
  info.local_listener = parts[5];
  info.cores = std::atoi(parts[6].c_str());
  for (std::size_t i = 7; i + 1 < parts.size(); i += 2) {
    info.listeners.push_back({parts[i], static_cast<std::uint16_t>(std::atoi(parts[i + 1].c_str()))});
  }
  return info;
}

bool is_one_host(const std::vector<RankInfo>& ranks) {
  for (const RankInfo& info : ranks) {
    if (info.host_identity != ranks.front().host_identity) return false;
  }
  return true;
}

GroupBootstrap::GroupBootstrap(const ProcessGroupOptions& options, const Rendezvous& rendezvous)
    : options_(options),
      rendezvous_(rendezvous),
      store_(join(options, rendezvous)),
      bootstrap_(store_.under("bootstrap"), rendezvous.rank, rendezvous.world_size, rendezvous.serves_store) {}

RankInfo GroupBootstrap::self() const {
  RankInfo info;
  info.world_size = size();
  info.host_name = tandem::host_name();
  info.host_identity = tandem::host_identity();
  info.process = getpid();
  info.backend = options_.backend;
  info.cores = cores_per_rank(size());
  return info;
}

std::vector<RankInfo> GroupBootstrap::exchange(const RankInfo& self) {
  std::vector<RankInfo> ranks;
  const auto check = [this](int rank, const std::string& bytes) { this->check(rank, RankInfo::decode(bytes)); };
  for (const std::string& bytes : gather(self.encode(), check)) ranks.push_back(RankInfo::decode(bytes));
  const int leaders = static_cast<int>(ranks.size());
  if (leaders != size()) {
    is_member_ = false;
    throw Error(ErrorCode::kInvalidArgument, size_message(rank(), size(), leaders));
  }
  return ranks;
}

// By rank 0.
void GroupBootstrap::check(int rank, const RankInfo& info) const {
  if (info.world_size != size()) {
    throw Error(ErrorCode::kInvalidArgument, size_message(rank, info.world_size, size()));
  }
  if (info.backend != options_.backend) {
    throw Error(ErrorCode::kInvalidArgument, "backends differ in group '" + options_.name + "': rank " +
                                                 std::to_string(rank) + " was given '" + info.backend + "', rank 0 '" +
                                                 options_.backend + "'; give all ranks the same one");
  }
}

std::vector<std::string> GroupBootstrap::gather(const std::string& bytes,
                                                std::function<void(int, const std::string&)> check) {
  Bootstrap::Call call;
  call.purpose = purpose(options_, rendezvous_);
  call.timeout = options_.timeout;
  call.describe_timeout = [this](const std::string& who) {
    return "after " + std::to_string(options_.timeout.count()) + " ms " + who + " from group '" + options_.name +
           "' of " + std::to_string(size()) + " ranks at " + rendezvous_.place +
           "; see whether all were started, with the same MASTER_ADDR and MASTER_PORT";
  };
  call.check = std::move(check);
  try {
    auto gathered = bootstrap_.all_gather(bytes, call);
    mark_ended();
    return gathered;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kAborted) {
      mark_ended();
      throw;
    }
    const std::string who = bootstrap_.who_is_missing();
    throw Error(error.code(), error.what() + (who.empty() ? "" : "; " + who));
  }
}

void GroupBootstrap::finish() noexcept {
  bootstrap_.finish();
  try {
    store_.note_clients();
  } catch (const std::exception&) {
    // Then a server that goes stays for all that are connected.
  }
}

// The rank may join the next group of this name.
void GroupBootstrap::mark_ended() {
  if (std::exchange(ended_, true) || rendezvous_.is_for_one_group) return;
  try {
    const StoreLimit limit(Bootstrap::Clock::now());
    store_.store()->set(member_key(rank()), this_process(kEnded).encode());
  } catch (const std::exception&) {
    // Whoever serves the store has gone, and all groups with it.
  }
}

void GroupBootstrap::require_descriptors(std::size_t needed) const {
  const net::DescriptorUse use = net::descriptor_use();
  // Of the store's clients that have not connected yet. Each has one for its calls and one for its waits.
  const std::size_t clients = rendezvous_.serves_store ? 2 * static_cast<std::size_t>(size() - 1) : 0;
  const std::size_t connected = clients > 0 ? net::accepted_at(store_port(rendezvous_.store.store())) : 0;
  needed += clients - std::min(clients, connected);
  const std::size_t in_all = use.open + needed;
  if (in_all <= use.limit) return;
  throw Error(ErrorCode::kIo,
              "rank " + std::to_string(rank()) + " of group '" + options_.name + "' needs " + std::to_string(in_all) +
                  " descriptors (" + std::to_string(use.open) + " are open in its process, " + std::to_string(needed) +
                  " more connect it to the other " + std::to_string(size() - 1) + " ranks) and may have " +
                  std::to_string(use.limit) + " (RLIMIT_NOFILE): raise the limit where it is started, with ulimit -n " +
                  std::to_string(in_all) + " or more");
}

void GroupBootstrap::refuse(const Error& reason) noexcept {
  if (!is_member_) return;
  const std::string who = "rank " + std::to_string(rank());
  const bool names_rank = std::string(reason.what()).find(who) != std::string::npos;
  // The others have not been aborted.
  const ErrorCode code = reason.code() == ErrorCode::kAborted ? ErrorCode::kPeerLost : reason.code();
  bootstrap_.refuse(names_rank ? Error(code, reason.what())
                               : Error(code, who + " on " + host_name() + ": " + reason.what()));
  mark_ended();
}

std::string GroupBootstrap::size_message(int rank, int theirs, int leaders) const {
  return "world sizes differ in group '" + options_.name + "': rank " + std::to_string(rank) +
         " was started with WORLD_SIZE=" + std::to_string(theirs) +
         ", rank 0 with WORLD_SIZE=" + std::to_string(leaders) + "; start all ranks with the same one";
}

}  // namespace tandem
