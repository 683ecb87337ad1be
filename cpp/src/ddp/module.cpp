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

std::unique_ptr<DataParallelReducer> make_reducer(std::shared_ptr<ProcessGroup> group, const torch::nn::Module& module,
                                                  const DataParallelOptions& options) {
  std::vector<at::Tensor> parameters, buffers;
  std::vector<std::string> names;
  for (const auto& item : module.named_parameters()) {
    names.push_back(item.key());
    parameters.push_back(item.value());
  }
  const auto& ignored = options.parameters_to_ignore;
  for (const auto& item : module.named_buffers()) {
    if (std::find(ignored.begin(), ignored.end(), item.key()) == ignored.end()) buffers.push_back(item.value());
  }
  return std::make_unique<DataParallelReducer>(std::move(group), std::move(parameters), std::move(names),
                                               std::move(buffers), options, sparse_gradients_of(module));
}

}  // namespace tandem::internal
