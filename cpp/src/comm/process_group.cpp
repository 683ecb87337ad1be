#include "tandem/process_group.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <numeric>

#include "comm/bootstrap/meet.h"
#include "comm/environment.h"
#include "comm/nccl/library.h"
#include "comm/process_group_parts.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLeave{5000};  // for a backend's threads to release aborted collectives

// What this process cannot have is an error before the ranks meet; there is never a silent change to another backend.
void require_devices(const BackendEntry& entry, const ProcessGroupOptions& options) {
  if (entry.kind == BackendKind::kNccl) return require_nccl(options.device);
  for (const DeviceKind device : entry.devices) {
    if (device == DeviceKind::kCuda) require_cuda("backend '" + options.backend + "'");
  }
}

}  // namespace

std::shared_ptr<ProcessGroup> ProcessGroup::create(const ProcessGroupOptions& options, const Store& store) {
  const auto entries = parse_backends(options.backend, options.device.is_cuda());
  if (options.timeout.count() <= 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "the timeout is " + std::to_string(options.timeout.count()) + " ms; it must be more than 0");
  }
  for (const BackendEntry& entry : entries) require_devices(entry, options);

  std::shared_ptr<ProcessGroup> group;
  const auto make = [&](const Rendezvous& rendezvous) {
    std::vector<int> ranks(rendezvous.world_size);
    std::iota(ranks.begin(), ranks.end(), 0);
    group = GroupMaker::make(options, rendezvous, std::move(ranks));
    group->parts_->trace->begin(*group);
  };
  if (entries.front().kind == BackendKind::kNone) {
    Rendezvous rendezvous;
    rendezvous.rank = options.rank;
    rendezvous.world_size = options.world_size;
    read_rank_and_size(&rendezvous.rank, &rendezvous.world_size);
    rendezvous.store = WaitableStore(hash_store());
    make(rendezvous);
  } else {
    meet({options.init_method, options.rank, options.world_size, options.timeout}, store, make);
  }
  return group;
}

std::shared_ptr<ProcessGroup> GroupMaker::make(const ProcessGroupOptions& options, const Rendezvous& rendezvous,
                                               std::vector<int> global_ranks) {
  auto parts = std::make_unique<ProcessGroup::Parts>();
  parts->options = options;
  // Later calls come from threads whose current GPU is another one.
  if (options.device.is_cuda() && !options.device.has_index()) {
    parts->options.device = c10::impl::VirtualGuardImpl(c10::kCUDA).getDevice();
  }
  parts->rendezvous = rendezvous;
  parts->global_ranks = std::move(global_ranks);
  auto entries = parse_backends(options.backend, options.device.is_cuda());
  Rendezvous place = rendezvous;
  const auto latch = std::make_shared<FailureLatch>();
  for (BackendEntry& entry : entries) {
    parts->channels.push_back(Channel::open(entry, parts->options, place, latch));
    const Channel& channel = *parts->channels.back();
    entry.kind = channel.kind;
    place.store = channel.store.under("next");
    place.is_for_one_group = true;
  }
  parts->backend_name = name_of(entries);
  const Channel& main = parts->main();
  parts->barrier = std::make_unique<Bootstrap>(main.store.under("barrier"), rendezvous.rank, rendezvous.world_size);
  parts->native =
      c10::make_intrusive<c10d::ProcessGroup>(main.own_store("group"), rendezvous.rank, rendezvous.world_size);
  parts->native->setDefaultBackend(main.type);
  if (parts->options.device.is_cuda()) parts->native->setBoundDeviceId(parts->options.device);
  for (const auto& channel : parts->channels) {
    for (const DeviceKind device : channel->devices) {
      parts->native->setBackend(to_device_type(device), channel->type, channel->backend);
    }
    if (channel->serves(c10::kPrivateUse1)) {
      parts->native->setBackend(c10::kPrivateUse1, channel->type, channel->backend);
    }
  }
  return std::shared_ptr<ProcessGroup>(new ProcessGroup(std::move(parts)));
}

ProcessGroup::ProcessGroup(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {
  const std::vector<std::weak_ptr<Channel>> channels(parts_->channels.begin(), parts_->channels.end());
  parts_->hook = std::make_unique<ShutdownHook>("process group '" + name() + "'", [channels, trace = parts_->trace] {
    trace->end();
    for (const auto& one : channels) {
      const auto channel = one.lock();
      if (!channel) continue;
      channel->end("the program shut down (tdm_shutdown or its end)");
      channel->state->wait_until_idle(kLeave);
    }
  });
}

ProcessGroup::~ProcessGroup() {
  parts_->hook.reset();
  close();
}

void ProcessGroup::close() {
  parts_->trace->end();
  for (const auto& channel : parts_->channels) channel->end("the group was closed");
  abort_beside();
}

at::Device ProcessGroup::rank_device() const {
  return parts_->options.device;
}

int ProcessGroup::rank() const {
  return parts_->main().state->rank();
}
int ProcessGroup::size() const {
  return parts_->main().state->size();
}
const std::string& ProcessGroup::backend() const {
  return parts_->backend_name;
}
const std::string& ProcessGroup::name() const {
  return parts_->main().state->name();
}
const c10::intrusive_ptr<c10d::ProcessGroup>& ProcessGroup::native() const {
  return parts_->native;
}
bool ProcessGroup::is_busy() const {
  if (std::ranges::any_of(parts_->channels, [](const auto& channel) { return channel->state->is_busy(); })) return true;
  std::vector<std::weak_ptr<ProcessGroup>> beside;
  {
    const std::lock_guard<std::mutex> lock(parts_->beside_mutex);
    beside = parts_->beside;
  }
  return std::ranges::any_of(beside, [](const auto& one) {
    const auto group = one.lock();
    return group && group->is_busy();
  });
}
std::optional<Error> ProcessGroup::failure() const {
  return parts_->main().state->latch().reason();
}

void ProcessGroup::abort() {
  parts_->main().backend->abort();
  abort_beside();
}

void ProcessGroup::abort_with_this(const std::shared_ptr<ProcessGroup>& other) {
  {
    const std::lock_guard<std::mutex> lock(parts_->beside_mutex);
    std::erase_if(parts_->beside, [](const auto& one) { return one.expired(); });
    parts_->beside.push_back(other);
  }
  const FailureLatch::State state = parts_->main().state->latch().state();
  if (state == FailureLatch::State::kAborted || state == FailureLatch::State::kClosing) other->abort();
}

void ProcessGroup::abort_beside() {
  std::vector<std::weak_ptr<ProcessGroup>> beside;
  {
    const std::lock_guard<std::mutex> lock(parts_->beside_mutex);
    beside = parts_->beside;
  }
  for (const auto& one : beside) {
    if (const auto group = one.lock()) group->abort();
  }
}

}  // namespace tandem
