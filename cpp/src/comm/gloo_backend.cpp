#include "comm/gloo_backend.h"

#include <net/if.h>

#include <algorithm>
#include <sstream>

#include "tandem/error.h"

namespace tandem {
namespace {

c10::intrusive_ptr<c10d::ProcessGroupGloo::Options> options_of(
    const std::vector<std::shared_ptr<::gloo::transport::Device>>& devices, std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  options->devices = devices;
  options->threads = static_cast<int>(2 * devices.size());  // as PyTorch has it
  return options;
}

std::string interface_names() {
  std::string names;
  struct if_nameindex* list = if_nameindex();
  for (auto* entry = list; entry && entry->if_index != 0; ++entry) {
    names += (names.empty() ? "" : ", ") + std::string(entry->if_name);
  }
  if (list) if_freenameindex(list);
  return names;
}

// LibTorch's flight recorder, one for all groups of a process, looks up and adds groups without a lock: groups of
// several threads take turns at issuing collectives, which takes microseconds.
template <typename Issue>
c10::intrusive_ptr<c10d::Work> issue_alone(Issue&& issue) {
  static auto* one_at_a_time = new std::mutex;
  std::lock_guard<std::mutex> lock(*one_at_a_time);
  return issue();
}

// Gloo has no average: sum, then divide.
void divide(const std::vector<at::Tensor>& tensors, int by) {
  at::NoGradGuard no_grad;
  for (const at::Tensor& tensor : tensors) {
    if (at::isIntegralType(tensor.scalar_type(), /*includeBool=*/true)) {
      tensor.detach().div_(by, "trunc");
    } else {
      tensor.detach().div_(by);
    }
  }
}

}  // namespace

// Gloo does not tell its port, but it listens from the moment that a device is made.
template <typename Make>
void GlooDevices::add(Make&& make) {
  static std::mutex one_at_a_time;
  std::lock_guard<std::mutex> lock(one_at_a_time);
  const auto before = net::listening_endpoints();
  net::SigpipeBlocked blocked;
  devices_.push_back(make());
  for (const auto& endpoint : net::listening_endpoints()) {
    if (std::find(before.begin(), before.end(), endpoint) == before.end()) endpoints_.push_back(endpoint);
  }
}

GlooDevices GlooDevices::for_interfaces(const std::string& names) {
  GlooDevices result;
  std::istringstream list(names);
  std::string name;
  while (std::getline(list, name, ',')) {
    if (name.empty()) continue;
    if (if_nametoindex(name.c_str()) == 0) {
      throw Error(ErrorCode::kNotFound, "this machine has no network interface '" + name +
                                            "' (GLOO_SOCKET_IFNAME); it has " + interface_names());
    }
    try {
      result.add([&] { return c10d::ProcessGroupGloo::createDeviceForInterface(name); });
    } catch (const std::exception& error) {
      throw Error(ErrorCode::kIo, "cannot use the network interface '" + name + "': " + error.what());
    }
  }
  if (result.devices_.empty()) throw Error(ErrorCode::kInvalidArgument, "'" + names + "' names no network interface");
  return result;
}

GlooDevices GlooDevices::for_address(const std::string& address) {
  GlooDevices result;
  try {
    result.add([&] { return c10d::ProcessGroupGloo::createDeviceForHostname(address); });
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kIo, "cannot listen for peers on " + address + ": " + error.what());
  }
  return result;
}

GlooDevices GlooDevices::for_this_host() {
  GlooDevices result;
  result.add([] { return c10d::ProcessGroupGloo::createDefaultDevice(); });
  return result;
}

GlooBackend::GlooBackend(std::shared_ptr<GroupState> state, const Store& store, const GlooDevices& devices,
                         std::chrono::milliseconds timeout)
    : ProcessGroupGloo(store, state->rank(), state->size(), options_of(devices.devices_, timeout)),
      state_(std::move(state)) {}

c10::intrusive_ptr<c10d::Work> GlooBackend::broadcast(std::vector<at::Tensor>& tensors,
                                                      const c10d::BroadcastOptions& options) {
  state_->check_usable("broadcast");
  return state_->guard(issue_alone([&] { return ProcessGroupGloo::broadcast(tensors, options); }), "broadcast");
}

c10::intrusive_ptr<c10d::Work> GlooBackend::allreduce(std::vector<at::Tensor>& tensors,
                                                      const c10d::AllreduceOptions& options) {
  state_->check_usable("all_reduce");
  if (options.reduceOp != c10d::ReduceOp::AVG) {
    return state_->guard(issue_alone([&] { return ProcessGroupGloo::allreduce(tensors, options); }), "all_reduce");
  }
  c10d::AllreduceOptions sum = options;
  sum.reduceOp = c10d::ReduceOp::SUM;
  return state_->guard(issue_alone([&] { return ProcessGroupGloo::allreduce(tensors, sum); }), "all_reduce",
                       [tensors, size = state_->size()] { divide(tensors, size); });
}

c10::intrusive_ptr<c10d::Work> GlooBackend::reduce(std::vector<at::Tensor>& tensors,
                                                   const c10d::ReduceOptions& options) {
  state_->check_usable("reduce");
  if (options.reduceOp != c10d::ReduceOp::AVG) {
    return state_->guard(issue_alone([&] { return ProcessGroupGloo::reduce(tensors, options); }), "reduce");
  }
  c10d::ReduceOptions sum = options;
  sum.reduceOp = c10d::ReduceOp::SUM;
  const bool is_root = options.rootRank == state_->rank();
  return state_->guard(issue_alone([&] { return ProcessGroupGloo::reduce(tensors, sum); }), "reduce",
                       [tensors, is_root, size = state_->size()] {
                         if (is_root) divide(tensors, size);
                       });
}

c10::intrusive_ptr<c10d::Work> GlooBackend::allgather(std::vector<std::vector<at::Tensor>>& outputs,
                                                      std::vector<at::Tensor>& inputs,
                                                      const c10d::AllgatherOptions& options) {
  state_->check_usable("all_gather");
  return state_->guard(issue_alone([&] { return ProcessGroupGloo::allgather(outputs, inputs, options); }),
                       "all_gather");
}

c10::intrusive_ptr<c10d::Work> GlooBackend::barrier(const c10d::BarrierOptions& options) {
  state_->check_usable("barrier");
  return state_->guard(issue_alone([&] { return ProcessGroupGloo::barrier(options); }), "barrier");
}

}  // namespace tandem
