// Replicas of a torch::nn module, made by its clone() and kept for the next forward.
#include "ddp/replicas/module_pool.h"

#include <c10/core/InferenceMode.h>
#include <torch/nn/module.h>

#include "nn/forward_state.h"

namespace tandem::internal {
namespace {

std::vector<std::string> names_of(const torch::nn::Module& module) {
  std::vector<std::string> names = module.named_parameters().keys();
  for (const std::string& name : module.named_buffers().keys()) names.push_back(name);
  return names;
}

// Modes of all modules in the tree, which replicas have in the same order.
void take_modes(torch::nn::Module& replica, torch::nn::Module& module) {
  const auto own = replica.modules(), originals = module.modules();
  for (std::size_t i = 0; i < own.size() && i < originals.size(); ++i) {
    // Parents come first: what their train() does to the modules in them is set right after.
    if (own[i]->is_training() != originals[i]->is_training()) own[i]->train(originals[i]->is_training());
  }
}

}  // namespace

std::shared_ptr<ReplicaSet> Replicas::clone(torch::nn::Module& module) const {
  std::vector<at::Device> generators{at::kCPU};
  for (const at::Device& device : devices_) {
    if (!device.is_cpu()) generators.push_back(device);
  }
  const c10::InferenceMode no_inference(false);
  // clone() initializes what it then overwrites.
  return nn::without_random_numbers(generators, [&] {
    auto set = std::make_shared<ReplicaSet>();
    for (const at::Device& device : devices_) {
      auto copy = module.clone(device);
      set->parameters.push_back(copy->parameters());
      set->buffers.push_back(copy->buffers());
      set->modules.push_back(std::move(copy));
    }
    return set;
  });
}

std::shared_ptr<ReplicaSet> Replicas::replicas_of(torch::nn::Module& module) {
  const std::vector<std::string> names = names_of(module);
  std::shared_ptr<ReplicaSet> set = idle_->take(names);
  if (!set) set = clone(module);
  for (const auto& replica : set->modules) take_modes(*replica, module);
  // Back among the idle ones when its last user releases it.
  return {set.get(), [set, names, weak = std::weak_ptr<Idle>(idle_)](ReplicaSet*) {
            if (const auto idle = weak.lock()) idle->give(set, names);
          }};
}

}  // namespace tandem::internal
