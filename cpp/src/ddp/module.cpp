// A reducer for a torch::nn module.
#include <torch/nn/modules/embedding.h>

#include <algorithm>
#include <unordered_set>

#include "tandem/ddp.h"

namespace tandem::internal {

std::vector<bool> sparse_gradients_of(const torch::nn::Module& module) {
  std::unordered_set<const c10::TensorImpl*> sparse;
  for (const auto& part : module.modules()) {
    if (const auto* embedding = part->as<torch::nn::Embedding>()) {
      if (embedding->options.sparse()) sparse.insert(embedding->weight.unsafeGetTensorImpl());
    } else if (const auto* bag = part->as<torch::nn::EmbeddingBag>()) {
      if (bag->options.sparse()) sparse.insert(bag->weight.unsafeGetTensorImpl());
    }
  }
  std::vector<bool> flags;
  for (const auto& parameter : module.parameters()) flags.push_back(sparse.count(parameter.unsafeGetTensorImpl()) > 0);
  return flags;
}

namespace {

std::vector<at::Tensor> buffers_of(const torch::nn::Module& module, const std::vector<std::string>& ignored) {
  if (ignored.empty()) return module.buffers();
  std::vector<at::Tensor> buffers;
  for (const auto& item : module.named_buffers()) {
    if (std::find(ignored.begin(), ignored.end(), item.key()) == ignored.end()) buffers.push_back(item.value());
  }
  return buffers;
}

}  // namespace

void refresh_buffers(DataParallelReducer& reducer, const torch::nn::Module& module) {
  const DataParallelOptions& options = reducer.options();
  if (!options.broadcast_buffers || !module.is_training()) return;
  reducer.set_buffers(buffers_of(module, options.parameters_to_ignore));
}

std::unique_ptr<DataParallelReducer> make_reducer(std::shared_ptr<ProcessGroup> group, const torch::nn::Module& module,
                                                  const DataParallelOptions& options) {
  std::vector<at::Tensor> parameters;
  std::vector<std::string> names;
  for (const auto& item : module.named_parameters()) {
    names.push_back(item.key());
    parameters.push_back(item.value());
  }
  return std::make_unique<DataParallelReducer>(std::move(group), std::move(parameters), std::move(names),
                                               buffers_of(module, options.parameters_to_ignore), options,
                                               sparse_gradients_of(module));
}

}  // namespace tandem::internal
