#include "tandem/process_group.h"

#include <unistd.h>

#include <numeric>

#include "comm/collective_check.h"
#include "comm/environment.h"
#include "comm/gloo_backend.h"
#include "comm/nccl_library.h"
#include "comm/none_backend.h"
#include "comm/process_group_parts.h"
#include "comm/shm/connect.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;
using BackendType = c10d::ProcessGroup::BackendType;

constexpr milliseconds kLeave{5000};  // for a backend's threads to let go of aborted collectives

Kind kind_of(const std::string& backend) {
  if (backend == "gloo") return Kind::kGloo;
  if (backend == "nccl") return Kind::kNccl;
  if (backend == "none") return Kind::kNone;
  if (backend == "shm") return Kind::kShm;
  if (backend == "auto") return Kind::kAuto;
  throw Error(ErrorCode::kUnsupported,
              "there is no backend '" + backend + "'; Tandem has gloo, nccl, shm, auto and none");
}

// What is settled before the ranks meet.
Kind kind_of(const ProcessGroupOptions& options) {
  const Kind kind = kind_of(options.backend);
  return kind == Kind::kAuto && options.device.is_cuda() ? Kind::kNccl : kind;
}

const char* name_of(Kind kind) {
  constexpr const char* kNames[] = {"gloo", "nccl", "none", "shm", "auto"};
  return kNames[static_cast<int>(kind)];
}

GlooDevices choose_devices(const ProcessGroupOptions& options, const Meeting& meeting) {
  std::string names = options.interface_name;
  if (names.empty()) names = environment_variable("GLOO_SOCKET_IFNAME").value_or("");
  if (!names.empty()) return GlooDevices::for_interfaces(names);
  const std::string& local = meeting.local_address;
  // "" is a store without an address. Ranks on several hosts then find out when they assemble.
  return GlooDevices::for_address(local.empty() || net::is_loopback(local) ? "127.0.0.1" : local);
}

// Gives up meeting the others when the program shuts down meanwhile.
struct Cancellation {
  std::atomic<bool> cancelled{false};
  ShutdownHook hook{"a process group that is being made", [this] { cancelled = true; }};
};

struct Gathered {
  GlooDevices devices;
  Roster roster;
};

Member introduce(const ProcessGroupOptions& options, const Meeting& meeting) {
  Member self;
  self.world_size = meeting.world_size;
  self.host_name = net::host_name();
  self.host_identity = net::host_identity();
  self.process = ::getpid();
  self.backend = options.backend;
  return self;
}

Gathered gather(const ProcessGroupOptions& options, const Meeting& meeting, const std::atomic<bool>& cancelled) {
  Member self = introduce(options, meeting);
  GlooDevices devices = choose_devices(options, meeting);
  self.listeners = devices.endpoints();
  Roster roster = assemble(meeting, options.name, self, options.timeout, cancelled);
  const bool on_loopback = !self.listeners.empty() && net::is_loopback(self.listeners.front().address);
  bool all_on_loopback = true;
  for (const auto& member : roster.members) {
    for (const auto& listener : member.listeners) all_on_loopback &= net::is_loopback(listener.address);
  }
  if (roster.one_host || !all_on_loopback || !on_loopback) return {std::move(devices), std::move(roster)};
  // Loopback was a guess. Ranks are on several hosts: listen where this host's name points to, and tell again.
  devices = GlooDevices::for_this_host();
  self.listeners = devices.endpoints();
  Meeting again = meeting;
  again.store = roster.store;
  roster = assemble(again, options.name, self, options.timeout, cancelled);
  return {std::move(devices), std::move(roster)};
}

c10::intrusive_ptr<c10d::Backend> connect_gloo(const ProcessGroupOptions& options, const Meeting& meeting,
                                               const std::shared_ptr<GroupState>& state, Store* store) {
  Cancellation cancellation;
  Gathered gathered = gather(options, meeting, cancellation.cancelled);
  std::vector<std::vector<net::Endpoint>> listeners;
  for (const auto& member : gathered.roster.members) listeners.push_back(member.listeners);
  state->set_listeners(std::move(listeners));
  *store = prefix_store("gloo", gathered.roster.store);
  net::SigpipeBlocked blocked;
  try {
    return make_gloo_backend(*state, *store, gathered.devices, options.timeout);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    const auto* of_libtorch = dynamic_cast<const c10::Error*>(&error);
    throw Error(ErrorCode::kPeerLost, "rank " + std::to_string(meeting.rank) +
                                          " could not connect to all ranks of group '" + options.name + "': " +
                                          (of_libtorch ? of_libtorch->what_without_backtrace() : error.what()));
  }
}

// Null when the ranks are on several hosts and the backend may be another.
c10::intrusive_ptr<ShmBackend> connect_shm(const ProcessGroupOptions& options, const Meeting& meeting,
                                           const std::shared_ptr<GroupState>& state, Store* store) {
  Cancellation cancellation;
  Roster roster;
  auto backend =
      shm::connect(options, meeting, introduce(options, meeting), state, store, cancellation.cancelled, &roster);
  if (backend || options.backend == "auto") return backend;
  throw Error(ErrorCode::kUnsupported,
              "backend shm exchanges through the memory of one host, but group '" + options.name + "' has " +
                  shm::hosts_of(roster) +
                  " (a container with a network of its own is a host); use backend auto or gloo");
}

// Aborts what is pending, but leaves peers in peace when nothing is.
void end(Kind kind, GroupState& state, c10d::Backend* backend, const std::string& reason) {
  state.abort(reason, /*quietly=*/true);
  if (!backend) return;
  if (kind == Kind::kNccl) backend->abort();
  if (kind == Kind::kShm) static_cast<ShmBackend&>(*backend).end(reason, /*quietly=*/true);
}

}  // namespace

std::shared_ptr<ProcessGroup> ProcessGroup::create(const ProcessGroupOptions& options, const Store& store) {
  const Kind kind = kind_of(options);
  if (options.timeout.count() <= 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "the timeout is " + std::to_string(options.timeout.count()) + " ms; it must be more than 0");
  }
  if (kind == Kind::kNccl) require_nccl(options.device);

  Meeting meeting;
  meeting.rank = options.rank;
  meeting.world_size = options.world_size;
  if (kind == Kind::kNone) {
    read_rank_and_size(&meeting.rank, &meeting.world_size);
    meeting.store = hash_store();
  } else if (store) {
    read_rank_and_size(&meeting.rank, &meeting.world_size);
    meeting.store = store;
    meeting.place = "the given store";
  } else {
    Cancellation cancellation;
    meeting =
        open_meeting(options.init_method, options.rank, options.world_size, options.timeout, cancellation.cancelled);
  }
  std::vector<int> ranks(meeting.world_size);
  std::iota(ranks.begin(), ranks.end(), 0);
  return GroupMaker::make(options, meeting, std::move(ranks));
}

std::shared_ptr<ProcessGroup> GroupMaker::make(const ProcessGroupOptions& options, const Meeting& meeting,
                                               std::vector<int> global_ranks) {
  auto parts = std::make_unique<ProcessGroup::Parts>();
  parts->kind = kind_of(options);
  parts->options = options;
  parts->meeting = meeting;
  parts->global_ranks = std::move(global_ranks);
  parts->state = std::make_shared<GroupState>(options.name, meeting.rank, meeting.world_size, options.timeout);
  parts->store = meeting.store;
  Store notes = meeting.store;  // of this group alone, where there are other ranks
  BackendType type = BackendType::CUSTOM;
  BackendTraits traits;
  c10::intrusive_ptr<c10d::Backend> backend;
  if (parts->kind == Kind::kShm || parts->kind == Kind::kAuto) {
    backend = connect_shm(options, meeting, parts->state, &notes);
    parts->kind = backend ? Kind::kShm : Kind::kGloo;
  }
  switch (parts->kind) {
    case Kind::kShm:
    case Kind::kAuto:
      parts->store = notes;
      traits.takes_lists = traits.runs_when_waited = true;
      break;
    case Kind::kGloo:
      backend = connect_gloo(options, meeting, parts->state, &notes);
      parts->store = notes;
      type = BackendType::GLOO;
      traits.averages = traits.reduces_scattered = false;
      traits.waits_for_messages = traits.in_turns = true;
      break;
    case Kind::kNccl: {
      const Member self = introduce(options, meeting);
      Cancellation cancellation;
      notes = prefix_store("nccl", assemble(meeting, options.name, self, options.timeout, cancellation.cancelled).store);
      parts->store = notes;
      backend = make_nccl_backend(parts->store, meeting.rank, meeting.world_size, options.timeout, options.device);
      type = BackendType::NCCL;
      traits.completes = false;
      break;
    }
    case Kind::kNone:
      backend = c10::make_intrusive<NoneBackend>(meeting.rank, meeting.world_size);
      break;
  }

  parts->backend_name = name_of(parts->kind);
  std::shared_ptr<CollectiveCheck> check;
  if (CollectiveCheck::is_wanted() && parts->kind != Kind::kNone) {
    check = std::make_shared<CollectiveCheck>(parts->state, notes, options.timeout);
  }
  parts->barrier_notes = std::make_unique<Notes>(prefix_store("barrier", notes), meeting.rank, meeting.world_size);
  parts->backend = c10::make_intrusive<GroupBackend>(parts->state, backend, traits, std::move(check));
  parts->native = c10::make_intrusive<c10d::ProcessGroup>(parts->store, meeting.rank, meeting.world_size);
  parts->native->setDefaultBackend(type);
  if (parts->kind == Kind::kNccl) {
    parts->native->setBackend(c10::kCUDA, type, parts->backend);
  } else {
    parts->native->setBackend(c10::kCPU, type, parts->backend);
    if (has_cuda() && parts->kind != Kind::kShm) parts->native->setBackend(c10::kCUDA, type, parts->backend);
  }
  return std::shared_ptr<ProcessGroup>(new ProcessGroup(std::move(parts)));
}

ProcessGroup::ProcessGroup(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {
  parts_->hook = std::make_unique<ShutdownHook>("process group '" + parts_->state->name() + "'",
                                                [state = parts_->state, kind = parts_->kind,
                                                 weak = c10::weak_intrusive_ptr<GroupBackend>(parts_->backend)] {
                                                  const auto backend = weak.lock();
                                                  end(kind, *state, backend ? backend->inner().get() : nullptr,
                                                      "the program shut down (tdm_shutdown or its end)");
                                                  state->wait_until_idle(kLeave);
                                                });
}

ProcessGroup::~ProcessGroup() {
  parts_->hook.reset();
  close();
}

void ProcessGroup::close() {
  end(parts_->kind, *parts_->state, parts_->backend->inner().get(), "the group was closed");
}

int ProcessGroup::rank() const {
  return parts_->state->rank();
}
int ProcessGroup::size() const {
  return parts_->state->size();
}
const std::string& ProcessGroup::backend() const {
  return parts_->backend_name;
}
const std::string& ProcessGroup::name() const {
  return parts_->state->name();
}
const c10::intrusive_ptr<c10d::ProcessGroup>& ProcessGroup::native() const {
  return parts_->native;
}

void ProcessGroup::abort() {
  parts_->backend->abort();
}

}  // namespace tandem
