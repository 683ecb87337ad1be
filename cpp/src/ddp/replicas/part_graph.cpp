#include "ddp/replicas/part_graph.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/graph_task.h>

#include <limits>
#include <mutex>
#include <sstream>
#include <unordered_set>

#include "autograd_node.h"
#include "ddp/replicas/failure.h"
#include "ddp/replicas/gradient_sum.h"
#include "nn/thread_generator.h"
#include "tandem/error.h"

namespace tandem::internal {
namespace {

namespace autograd = torch::autograd;
using autograd::variable_list;

std::vector<std::vector<at::Tensor>> record(const std::vector<at::Tensor>& sources, std::vector<Part> parts,
                                            const PartOwner& owner, bool shared);

// What one part is asked for in a backward pass.
struct Question {
  variable_list roots, gradients;
  variable_list leaves;
  std::vector<std::size_t> places;  // of the leaves, among the part's
};

struct PartsNode final : autograd::Node {
  PartsNode(const std::vector<at::Tensor>& sources, std::vector<Part> parts, const PartOwner& owner, bool shared)
      : sources_(sources),
        parts_(std::make_shared<const std::vector<Part>>(std::move(parts))),
        owner_(owner),
        shared_(shared) {}

  std::string name() const override { return "DataParallelBackward"; }

  void release_variables() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    parts_.reset();
    owner_ = {};
    sources_.clear();
  }

 protected:
  variable_list apply(variable_list&& gradients) override {
    std::vector<at::Tensor> sources;
    PartOwner owner;
    std::shared_ptr<const std::vector<Part>> parts;
    const bool recorded = at::GradMode::is_enabled();
    bool keep_graph = recorded || autograd::get_current_graph_task_keep_graph();
    {
      // Backward passes of several threads may meet here.
      const std::lock_guard<std::mutex> lock(mutex_);
      TORCH_CHECK(parts_, autograd::ERR_BACKWARD_TWICE);
      sources = sources_;
      parts = parts_;
      owner = owner_;
      shared_ = shared_ || recorded;
      keep_graph = keep_graph || shared_;
    }
    std::vector<Question> questions = ask(*parts, gradients);

    std::vector<Part> second;  // the graphs of the gradients, for derivatives of higher order
    if (recorded) {
      for (std::size_t r = 0; r < parts->size(); ++r) {
        const Part& first = (*parts)[r];
        second.push_back({first.leaves, first.sources, {}});
        for (at::Tensor& gradient : questions[r].gradients) {
          if (!gradient.requires_grad()) continue;
          sources.push_back(gradient);
          gradient = gradient.detach().set_requires_grad(true);
          second[r].leaves.push_back(gradient);
          second[r].sources.push_back(sources.size() - 1);
        }
      }
    }
    std::vector<variable_list> answers(parts->size());  // of each part: of the leaves that were asked for
    owner.threads->run(static_cast<int>(parts->size()), [&](int replica) {
      const auto r = static_cast<std::size_t>(replica);
      const Question& question = questions[r];
      if (question.roots.empty() || question.leaves.empty()) return;
      const nn::ThreadGenerator random(owner.generators[r]);
      try {
        answers[r] = autograd::grad(question.roots, question.leaves, question.gradients, keep_graph, recorded,
                                    /*allow_unused=*/true);
      } catch (...) {
        rethrow_from(replica, static_cast<int>(parts->size()), "backward", {});
      }
    });
    if (recorded) answers = record_answers(sources, std::move(answers), std::move(second), owner);

    std::vector<variable_list> terms(num_outputs());
    for (std::size_t r = 0; r < answers.size(); ++r) {
      for (std::size_t i = 0; i < answers[r].size(); ++i) {
        if (!answers[r][i].defined()) continue;
        terms[(*parts)[r].sources[questions[r].places[i]]].push_back(std::move(answers[r][i]));
      }
    }
    return sum_gradients(std::move(terms), static_cast<int>(parts->size()), *owner.threads);
  }

 private:
  std::vector<Question> ask(const std::vector<Part>& parts, const variable_list& gradients) const {
    std::vector<Question> questions(parts.size());
    std::size_t next = 0;
    for (std::size_t r = 0; r < parts.size(); ++r) {
      for (const at::Tensor& root : parts[r].roots) {
        const at::Tensor& gradient = gradients[next++];
        if (!gradient.defined()) continue;
        questions[r].roots.push_back(root);
        questions[r].gradients.push_back(gradient);
      }
      for (std::size_t i = 0; i < parts[r].leaves.size(); ++i) {
        if (!task_should_compute_output(parts[r].sources[i])) continue;
        questions[r].leaves.push_back(parts[r].leaves[i]);
        questions[r].places.push_back(i);
      }
    }
    return questions;
  }

  // The answers as tensors of the graph around.
  static std::vector<variable_list> record_answers(const std::vector<at::Tensor>& sources,
                                                   std::vector<variable_list> answers, std::vector<Part> second,
                                                   const PartOwner& owner) {
    std::vector<std::vector<at::Tensor*>> places(answers.size());
    for (std::size_t r = 0; r < answers.size(); ++r) {
      for (at::Tensor& answer : answers[r]) {
        if (!answer.defined() || !answer.requires_grad()) continue;
        second[r].roots.push_back(answer);
        places[r].push_back(&answer);
      }
    }
    const auto recorded = record(sources, std::move(second), owner, /*shared=*/true);
    for (std::size_t r = 0; r < places.size(); ++r) {
      for (std::size_t i = 0; i < places[r].size(); ++i) *places[r][i] = recorded[r][i];
    }
    return answers;
  }

  std::mutex mutex_;
  std::vector<at::Tensor> sources_;
  std::shared_ptr<const std::vector<Part>> parts_;  // NULL once released
  PartOwner owner_;
  // The parts' graphs are also part of other nodes' (of derivatives), which may be in the same pass: none frees them.
  bool shared_;
};

std::vector<std::vector<at::Tensor>> record(const std::vector<at::Tensor>& sources, std::vector<Part> parts,
                                            const PartOwner& owner, bool shared) {
  std::vector<std::vector<at::Tensor>> outputs(parts.size());
  for (std::size_t r = 0; r < parts.size(); ++r) {
    // Of the same version, so that a change in place of what a replica's backward needs is noticed.
    for (const at::Tensor& root : parts[r].roots) outputs[r].push_back(root.tensor_data());
  }
  const auto node = make_node<PartsNode>(sources, std::move(parts), owner, shared);
  node->set_next_edges(autograd::collect_next_edges(sources));
  for (const auto& list : outputs) {
    for (const at::Tensor& output : list) autograd::set_history(output, NodePointer(node));
  }
  return outputs;
}

}  // namespace

std::vector<std::vector<at::Tensor>> record_parts(const std::vector<at::Tensor>& sources, std::vector<Part> parts,
                                                  const PartOwner& owner) {
  return record(sources, std::move(parts), owner, /*shared=*/false);
}

void check_closed(const Part& part) {
  std::unordered_set<const at::TensorImpl*> own;
  for (const at::Tensor& leaf : part.leaves) own.insert(leaf.unsafeGetTensorImpl());
  std::unordered_set<const autograd::Node*> seen;
  std::vector<autograd::Node*> open;
  const auto visit = [&](autograd::Node* node) {
    if (node && seen.insert(node).second) open.push_back(node);
  };
  for (const at::Tensor& root : part.roots) visit(autograd::impl::gradient_edge(root).function.get());
  while (!open.empty()) {
    autograd::Node* node = open.back();
    open.pop_back();
    for (const autograd::Edge& edge : node->next_edges()) visit(edge.function.get());
    // Accumulators alone have no number in the order of operations.
    if (node->sequence_nr() != std::numeric_limits<std::uint64_t>::max()) continue;
    const auto* accumulator = dynamic_cast<autograd::AccumulateGrad*>(node);
    if (!accumulator || own.count(accumulator->variable.unsafeGetTensorImpl())) continue;
    std::ostringstream message;
    message << "it used a tensor of sizes " << accumulator->variable.sizes()
            << " that requires a gradient and is neither a parameter nor an input of the module, so that the gradient "
               "would be lost; register it as a parameter, pass it as an input, or detach it";
    throw Error(ErrorCode::kInvalidArgument, message.str());
  }
}

}  // namespace tandem::internal
