#include "ddp/replicas/tensors.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/variable.h>

#include <string>

#include "ddp/replicas/spread_graph.h"
#include "tandem/error.h"

namespace tandem::internal {
namespace {

namespace impl = torch::autograd::impl;

void check_sizes(std::size_t have, std::size_t want, int replica, const char* what) {
  if (have == want) return;
  throw Error(ErrorCode::kInvalidArgument, "replica " + std::to_string(replica) + " has " + std::to_string(have) + " " +
                                               what + ", the module " + std::to_string(want) +
                                               "; a replica is a copy of the module");
}

void check_own(const at::Tensor& own, const at::Tensor& original, int replica) {
  if (own.defined() && original.defined() && !own.is_same(original)) return;
  throw Error(ErrorCode::kInvalidArgument,
              "replica " + std::to_string(replica) +
                  " has a tensor that is the module's own, or none; give it tensors of its "
                  "own, which then share the memory");
}

// Of the same version, so that backward notices a change of the parameter in place.
void share(const at::Tensor& own, const at::Tensor& original) {
  own.set_data(original.detach());
  if (!own.is_inference() && !original.is_inference()) {
    impl::set_version_counter(own, impl::version_counter(original));
  }
}

void copy(const at::Tensor& own, const at::Tensor& original, at::Device device) {
  own.set_data(original.detach().to(device, original.scalar_type(), /*non_blocking=*/true, /*copy=*/true));
}

}  // namespace

void refresh(const ReplicaCall& call, int count, const std::vector<at::Device>& devices, bool leaves) {
  const c10::InferenceMode no_inference(false);
  const at::NoGradGuard no_grad;
  for (int r = 0; r < count; ++r) {
    const auto index = static_cast<std::size_t>(r);
    const auto& parameters = call.set->parameters[index];
    const auto& buffers = call.set->buffers[index];
    check_sizes(parameters.size(), call.parameters.size(), r, "parameters");
    check_sizes(buffers.size(), call.buffers.size(), r, "buffers");
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const at::Tensor& own = parameters[i];
      const at::Tensor& original = call.parameters[i];
      check_own(own, original, r);
      disconnect(own);
      own.set_requires_grad(false);
      if (original.device() == devices[index]) {
        share(own, original);
      } else {
        copy(own, original, devices[index]);
      }
      own.set_requires_grad(leaves && original.requires_grad());
    }
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      check_own(buffers[i], call.buffers[i], r);
      if (call.buffers[i].requires_grad()) {
        throw Error(ErrorCode::kUnsupported,
                    "DataParallel: a buffer of the module requires a gradient, which copies of "
                    "it would lose; register it as a parameter");
      }
      if (r == 0 && call.buffers[i].device() == devices[index]) {
        share(buffers[i], call.buffers[i]);
      } else {
        copy(buffers[i], call.buffers[i], devices[index]);
      }
    }
  }
}

}  // namespace tandem::internal
