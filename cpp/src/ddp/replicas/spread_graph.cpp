#include "ddp/replicas/spread_graph.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include "autograd_node.h"

namespace tandem::internal {
namespace {

namespace autograd = torch::autograd;

// Its inputs are the gradients of the first replica, then those of the second, and so on. Made of operators, so that
// derivatives of higher order follow.
struct SumNode final : autograd::Node {
  explicit SumNode(std::vector<at::Device> devices) : devices_(std::move(devices)) {}

  std::string name() const override { return "SumOfReplicasBackward"; }

 protected:
  autograd::variable_list apply(autograd::variable_list&& gradients) override {
    autograd::variable_list sums(devices_.size());
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined()) continue;
      at::Tensor& sum = sums[i % devices_.size()];
      const at::Tensor term = gradients[i].to(devices_[i % devices_.size()]);
      if (!sum.defined()) {
        sum = term;
      } else {
        sum = sum.is_sparse() && !term.is_sparse() ? term + sum : sum + term;
      }
    }
    return sums;
  }

 private:
  const std::vector<at::Device> devices_;
};

// Passes gradients on. What a graph begins with cannot keep the replicas, whose tensors keep that.
struct KeepNode final : autograd::Node {
  explicit KeepNode(std::shared_ptr<void> kept) : kept_(std::move(kept)) {}

  std::string name() const override { return "DataParallelBackward"; }

 protected:
  autograd::variable_list apply(autograd::variable_list&& gradients) override { return std::move(gradients); }

 private:
  const std::shared_ptr<void> kept_;
};

}  // namespace

void connect_replicas(const std::vector<at::Tensor>& originals, const std::vector<std::vector<at::Tensor>>& own) {
  std::vector<std::size_t> trained;
  std::vector<at::Tensor> sources;
  std::vector<at::Device> devices;
  for (std::size_t i = 0; i < originals.size(); ++i) {
    if (!originals[i].requires_grad()) continue;
    trained.push_back(i);
    sources.push_back(originals[i]);
    devices.push_back(originals[i].device());
  }
  if (trained.empty()) return;
  const auto node = make_node<SumNode>(std::move(devices));
  node->set_next_edges(autograd::collect_next_edges(sources));
  for (const auto& tensors : own) {
    for (const std::size_t i : trained) autograd::set_history(tensors[i], NodePointer(node));
  }
}

void keep_with(std::vector<at::Tensor>& outputs, std::shared_ptr<void> kept) {
  std::vector<at::Tensor> sources;
  for (const at::Tensor& output : outputs) {
    if (output.defined() && output.requires_grad()) sources.push_back(output);
  }
  const auto node = make_node<KeepNode>(std::move(kept));
  node->set_next_edges(autograd::collect_next_edges(sources));
  for (at::Tensor& output : outputs) {
    if (!output.defined() || !output.requires_grad()) continue;
    output = output.tensor_data();
    autograd::set_history(output, NodePointer(node));
  }
}

void disconnect(const at::Tensor& own) {
  if (own.grad_fn()) autograd::impl::set_gradient_edge(own, autograd::Edge());
}

}  // namespace tandem::internal
