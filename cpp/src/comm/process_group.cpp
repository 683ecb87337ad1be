#include "tandem/process_group.h"

#include <unistd.h>

#include "comm/environment.h"
#include "comm/gloo_backend.h"
#include "comm/nccl_library.h"
#include "comm/none_backend.h"
#include "comm/rendezvous.h"
#include "tandem/error.h"
#include "tandem/runtime.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;
using BackendType = c10d::ProcessGroup::BackendType;

constexpr milliseconds kLeave{5000};  // for Gloo's threads to let go of aborted collectives

enum class Kind { kGloo, kNccl, kNone };

Kind kind_of(const std::string& backend) {
  if (backend == "gloo") return Kind::kGloo;
  if (backend == "nccl") return Kind::kNccl;
  if (backend == "none") return Kind::kNone;
  throw Error(ErrorCode::kUnsupported, "there is no backend '" + backend + "'; Tandem has gloo, nccl and none");
}

bool is_dense(const at::Tensor& tensor) {
  return tensor.layout() == at::kStrided && tensor.is_non_overlapping_and_dense();
}

[[noreturn]] void refuse(const std::string& collective, const std::string& reason) {
  throw Error(ErrorCode::kInvalidArgument, collective + ": " + reason);
}

std::string describe(const at::Tensor& tensor) {
  return c10::str("a tensor of ", tensor.scalar_type(), tensor.sizes(), " on ", tensor.device());
}

void check_dense(const at::Tensor& tensor, const std::string& collective) {
  if (!tensor.defined()) refuse(collective, "the tensor is undefined");
  if (is_dense(tensor)) return;
  refuse(collective, describe(tensor) + " with strides " + c10::str(tensor.strides()) +
                         " is not dense; pass tensor.contiguous() and copy the result back");
}

// Gloo's arithmetic.
bool gloo_reduces(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat:
    case at::kDouble:
    case at::kHalf:
    case at::kBFloat16:
    case at::kChar:
    case at::kByte:
    case at::kBool:
    case at::kInt:
    case at::kLong:
      return true;
    default:
      return false;
  }
}

bool is_bitwise(ReduceOp op) {
  return op == ReduceOp::kBand || op == ReduceOp::kBor || op == ReduceOp::kBxor;
}

const char* name_of(ReduceOp op) {
  constexpr const char* kNames[] = {"SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"};
  return kNames[static_cast<int>(op)];
}

c10d::ReduceOp to_native(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return c10d::ReduceOp::SUM;
    case ReduceOp::kAvg:
      return c10d::ReduceOp::AVG;
    case ReduceOp::kProduct:
      return c10d::ReduceOp::PRODUCT;
    case ReduceOp::kMin:
      return c10d::ReduceOp::MIN;
    case ReduceOp::kMax:
      return c10d::ReduceOp::MAX;
    case ReduceOp::kBand:
      return c10d::ReduceOp::BAND;
    case ReduceOp::kBor:
      return c10d::ReduceOp::BOR;
    case ReduceOp::kBxor:
      return c10d::ReduceOp::BXOR;
  }
  throw Error(ErrorCode::kInvalidArgument, "there is no reduce operation " + std::to_string(static_cast<int>(op)));
}

// What is handed to the backend for a reduction of `tensor`.
at::Tensor to_reduce(const at::Tensor& tensor, ReduceOp op, const char* collective, bool gloo) {
  check_dense(tensor, collective);
  to_native(op);
  if (tensor.is_complex()) {
    if (op != ReduceOp::kSum && op != ReduceOp::kAvg) {
      refuse(collective, describe(tensor) + " has no " + name_of(op) + ": complex numbers take SUM and AVG");
    }
    return to_reduce(at::view_as_real(tensor.detach()), op, collective, gloo);
  }
  if (!gloo) return tensor.detach();
  if (!gloo_reduces(tensor.scalar_type())) {
    refuse(collective, describe(tensor) + " cannot be reduced by gloo; convert it to int32, int64 or a float type");
  }
  if (is_bitwise(op) && !at::isIntegralType(tensor.scalar_type(), true)) {
    refuse(collective, describe(tensor) + " has no " + name_of(op) + ": bitwise operations take whole numbers");
  }
  return tensor.detach();
}

// Bytes can be moved whatever they mean; Gloo knows few types.
at::Tensor to_move(const at::Tensor& tensor, bool gloo) {
  if (!gloo || gloo_reduces(tensor.scalar_type())) return tensor.detach();
  return tensor.detach().as_strided({tensor.numel()}, {1}).view(at::kByte);
}

c10::intrusive_ptr<c10d::Work> nothing_to_do() {
  auto future = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
  future->markCompleted(c10::IValue(std::vector<at::Tensor>()));
  return c10d::Work::create_from_future(future);
}

GlooDevices choose_devices(const ProcessGroupOptions& options, const Meeting& meeting) {
  std::string names = options.interface_name;
  if (names.empty()) names = environment_variable("GLOO_SOCKET_IFNAME").value_or("");
  if (!names.empty()) return GlooDevices::for_interfaces(names);
  const std::string& local = meeting.local_address;
  // "" is a store without an address. Ranks on several hosts then find out when they assemble.
  return GlooDevices::for_address(local.empty() || net::is_loopback(local) ? "127.0.0.1" : local);
}

}  // namespace

struct ProcessGroup::Parts {
  Kind kind = Kind::kGloo;
  std::string backend_name;
  std::shared_ptr<GroupState> state;
  Store store;  // outlives the backend, which uses it to the end
  c10::intrusive_ptr<c10d::Backend> backend;
  c10::intrusive_ptr<c10d::ProcessGroup> native;
  std::unique_ptr<ShutdownHook> hook;
};

namespace {

// Gives up meeting the others when the program shuts down meanwhile.
struct Cancellation {
  std::atomic<bool> cancelled{false};
  ShutdownHook hook{"a process group that is being made", [this] { cancelled = true; }};
};

struct Gathered {
  GlooDevices devices;
  Roster roster;
};

Gathered gather(const ProcessGroupOptions& options, const Meeting& meeting, const std::atomic<bool>& cancelled) {
  Member self;
  self.world_size = meeting.world_size;
  self.host_name = net::host_name();
  self.host_identity = net::host_identity();
  self.process = ::getpid();
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
    return c10::make_intrusive<GlooBackend>(state, *store, gathered.devices, options.timeout);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kPeerLost, "rank " + std::to_string(meeting.rank) +
                                          " could not connect to all ranks of group '" + options.name +
                                          "': " + error.what());
  }
}

}  // namespace

std::shared_ptr<ProcessGroup> ProcessGroup::create(const ProcessGroupOptions& options, const Store& store) {
  auto parts = std::make_unique<Parts>();
  parts->kind = kind_of(options.backend);
  parts->backend_name = options.backend;
  if (options.timeout.count() <= 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "the timeout is " + std::to_string(options.timeout.count()) + " ms; it must be more than 0");
  }
  if (parts->kind == Kind::kNccl) require_nccl(options.device);

  Meeting meeting;
  meeting.rank = options.rank;
  meeting.world_size = options.world_size;
  if (parts->kind == Kind::kNone) {
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

  parts->state = std::make_shared<GroupState>(options.name, meeting.rank, meeting.world_size);
  parts->store = meeting.store;
  BackendType type = BackendType::CUSTOM;
  switch (parts->kind) {
    case Kind::kGloo:
      parts->backend = connect_gloo(options, meeting, parts->state, &parts->store);
      type = BackendType::GLOO;
      break;
    case Kind::kNccl: {
      Member self;
      self.world_size = meeting.world_size;
      self.host_name = net::host_name();
      self.host_identity = net::host_identity();
      self.process = ::getpid();
      Cancellation cancellation;
      parts->store =
          prefix_store("nccl", assemble(meeting, options.name, self, options.timeout, cancellation.cancelled).store);
      parts->backend =
          make_nccl_backend(parts->store, meeting.rank, meeting.world_size, options.timeout, options.device);
      type = BackendType::NCCL;
      break;
    }
    case Kind::kNone:
      parts->backend = c10::make_intrusive<NoneBackend>(meeting.rank, meeting.world_size);
      break;
  }

  parts->native = c10::make_intrusive<c10d::ProcessGroup>(parts->store, meeting.rank, meeting.world_size);
  parts->native->setDefaultBackend(type);
  if (parts->kind == Kind::kNccl) {
    parts->native->setBackend(c10::kCUDA, type, parts->backend);
  } else {
    parts->native->setBackend(c10::kCPU, type, parts->backend);
    if (has_cuda()) parts->native->setBackend(c10::kCUDA, type, parts->backend);
  }
  return std::shared_ptr<ProcessGroup>(new ProcessGroup(std::move(parts)));
}

ProcessGroup::ProcessGroup(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {
  parts_->hook = std::make_unique<ShutdownHook>("process group '" + parts_->state->name() + "'",
                                                [state = parts_->state, nccl = parts_->kind == Kind::kNccl,
                                                 weak = c10::weak_intrusive_ptr<c10d::Backend>(parts_->backend)] {
                                                  state->abort("the program shut down (tdm_shutdown or its end)",
                                                               /*quietly=*/true);
                                                  if (nccl) {
                                                    if (const auto backend = weak.lock()) backend->abort();
                                                  }
                                                  state->wait_until_idle(kLeave);
                                                });
}

ProcessGroup::~ProcessGroup() {
  parts_->hook.reset();
  close();
}

void ProcessGroup::close() {
  parts_->state->abort("the group was closed", /*quietly=*/true);
  if (parts_->kind == Kind::kNccl) parts_->backend->abort();
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
  parts_->state->abort("its process group was aborted");
  parts_->backend->abort();
}

const c10::intrusive_ptr<c10d::Backend>& ProcessGroup::backend_of(const at::Tensor& tensor,
                                                                  const char* collective) const {
  parts_->state->check_usable(collective);
  if (parts_->kind == Kind::kNccl && !tensor.is_cuda()) {
    refuse(collective, "backend nccl takes tensors on a GPU, this is " + describe(tensor));
  }
  return parts_->backend;
}

Work ProcessGroup::broadcast_async(const at::Tensor& tensor, int root) {
  check_dense(tensor, "broadcast");
  if (root < 0 || root >= size()) {
    refuse("broadcast", "root " + std::to_string(root) + " is no rank of a group of " + std::to_string(size()));
  }
  const auto& backend = backend_of(tensor, "broadcast");
  if (tensor.numel() == 0) return Work(nothing_to_do());
  std::vector<at::Tensor> tensors = {to_move(tensor, parts_->kind == Kind::kGloo)};
  c10d::BroadcastOptions options;
  options.rootRank = root;
  return Work(backend->broadcast(tensors, options));
}

Work ProcessGroup::all_reduce_async(const at::Tensor& tensor, ReduceOp op) {
  std::vector<at::Tensor> tensors = {to_reduce(tensor, op, "all_reduce", parts_->kind == Kind::kGloo)};
  const auto& backend = backend_of(tensor, "all_reduce");
  if (tensor.numel() == 0) return Work(nothing_to_do());
  c10d::AllreduceOptions options;
  options.reduceOp = to_native(op);
  return Work(backend->allreduce(tensors, options));
}

Work ProcessGroup::reduce_async(const at::Tensor& tensor, int root, ReduceOp op) {
  std::vector<at::Tensor> tensors = {to_reduce(tensor, op, "reduce", parts_->kind == Kind::kGloo)};
  if (root < 0 || root >= size()) {
    refuse("reduce", "root " + std::to_string(root) + " is no rank of a group of " + std::to_string(size()));
  }
  const auto& backend = backend_of(tensor, "reduce");
  if (tensor.numel() == 0) return Work(nothing_to_do());
  c10d::ReduceOptions options;
  options.reduceOp = to_native(op);
  options.rootRank = root;
  return Work(backend->reduce(tensors, options));
}

Work ProcessGroup::all_gather_async(const std::vector<at::Tensor>& outputs, const at::Tensor& input) {
  if (!input.defined()) refuse("all_gather", "the input is undefined");
  if (outputs.size() != static_cast<std::size_t>(size())) {
    refuse("all_gather", "got " + std::to_string(outputs.size()) + " outputs for a group of " + std::to_string(size()) +
                             "; give one a rank");
  }
  const bool gloo = parts_->kind == Kind::kGloo;
  std::vector<at::Tensor> inputs = {to_move(input.contiguous(), gloo)};
  std::vector<std::vector<at::Tensor>> native(1);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const at::Tensor& output = outputs[i];
    if (!output.defined() || output.sizes() != input.sizes() || output.scalar_type() != input.scalar_type()) {
      refuse("all_gather", "output " + std::to_string(i) + " is " +
                               (output.defined() ? describe(output) : "undefined") + ", but the input is " +
                               describe(input) + "; they must be alike");
    }
    if (!output.is_contiguous()) refuse("all_gather", "output " + std::to_string(i) + " is not contiguous");
    native[0].push_back(to_move(output, gloo));
  }
  const auto& backend = backend_of(input, "all_gather");
  if (input.numel() == 0) return Work(nothing_to_do());
  return Work(backend->allgather(native, inputs));
}

Work ProcessGroup::barrier_async() {
  parts_->state->check_usable("barrier");
  return Work(parts_->backend->barrier());
}

void Work::wait(milliseconds timeout) {
  if (!work_) throw Error(ErrorCode::kClosed, "the work is empty: it belongs to no collective");
  try {
    work_->wait(timeout);
  } catch (const Error&) {
    throw;
  } catch (const c10::DistError& error) {  // NCCL's
    const std::string text = error.what_without_backtrace();
    const bool late = text.find("imeout") != std::string::npos || text.find("timed out") != std::string::npos;
    throw Error(late ? ErrorCode::kTimeout : ErrorCode::kPeerLost, "a collective failed: " + text);
  }
}

bool Work::is_completed() const {
  return !work_ || work_->isCompleted();
}

}  // namespace tandem
