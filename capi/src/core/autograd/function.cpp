// Functions with a derivative of the caller's: a node of LibTorch's graph whose backward is a callback.
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/variable_info.h>

#include <mutex>
#include <unordered_set>

#include "autograd_node.h"
#include "core/call/callback.h"
#include "core/call/options.h"
#include "core/handles/handles.h"

namespace tandem::capi {
namespace {

namespace autograd = torch::autograd;
using autograd::variable_list;
using Backward = tdm_error* (*)(void* user_data, const tdm_function_backward* call);

struct FunctionNode final : autograd::Node {
  FunctionNode(std::string name, Backward backward, std::shared_ptr<Callback> callback, bool materialize_grads)
      : name_(std::move(name)),
        backward_(backward),
        callback_(std::move(callback)),
        materialize_grads_(materialize_grads) {}

  std::string name() const override { return name_ + "Backward"; }

  // A saved output is kept without its graph, which this node is the end of: no cycle.
  void save(const std::vector<at::Tensor>& tensors) {
    for (const auto& tensor : tensors) {
      saved_.emplace_back(tensor, tensor.defined() && tensor.grad_fn().get() == this);
    }
  }

  void describe_outputs(const std::vector<at::Tensor>& outputs) {
    for (const auto& output : outputs) outputs_.emplace_back(output);
  }

  void release_variables() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (saved_.empty()) return;
    saved_.clear();
    released_ = true;
  }

 protected:
  variable_list apply(variable_list&& gradients) override {
    materialize(gradients);
    const std::vector<at::Tensor> saved = unpack();
    variable_list results(num_outputs());
    std::vector<std::uint8_t> needs(num_outputs());
    for (std::size_t i = 0; i < needs.size(); ++i) needs[i] = task_should_compute_output(i);
    std::vector<tdm_tensor*> handles(num_outputs());
    run_callback(
        "the backward of a function", "the backward of " + name_,
        [&] {
          const auto given = make_optional_handles(gradients), kept = make_optional_handles(saved);
          const tdm_function_backward call{sizeof(tdm_function_backward),
                                           given.data(),
                                           given.size(),
                                           kept.data(),
                                           kept.size(),
                                           needs.data(),
                                           handles.data(),
                                           handles.size()};
          return backward_(callback_->user_data(), &call);
        },
        [&] { results = unwrap_optional_list(handles.data(), handles.size(), "results"); });
    return results;
  }

 private:
  void materialize(variable_list& gradients) {
    if (!materialize_grads_) return;
    at::OptionalDeviceGuard device_guard;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined()) gradients[i] = outputs_[i].zeros(device_guard);
    }
  }

  // Backward passes of several threads may meet here; the callback itself runs without the lock.
  std::vector<at::Tensor> unpack() {
    const std::lock_guard<std::mutex> lock(mutex_);
    TORCH_CHECK(!released_, autograd::ERR_BACKWARD_TWICE);
    std::vector<at::Tensor> tensors;
    for (const auto& saved : saved_) tensors.push_back(saved.unpack(getptr()));
    return tensors;
  }

  const std::string name_;
  const Backward backward_;
  const std::shared_ptr<Callback> callback_;
  const bool materialize_grads_;
  std::vector<autograd::SavedVariable> saved_;
  std::vector<autograd::VariableInfo> outputs_;
  bool released_ = false;
};

std::unordered_set<at::TensorImpl*> implementations(const std::vector<at::Tensor>& tensors) {
  std::unordered_set<at::TensorImpl*> set;
  for (const auto& tensor : tensors) set.insert(tensor.unsafeGetTensorImpl());
  return set;
}

void require_among(const std::vector<at::Tensor>& some, const std::vector<at::Tensor>& all, const char* some_name,
                   const char* all_name) {
  const auto known = implementations(all);
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (!known.contains(some[i].unsafeGetTensorImpl())) {
      invalid("function->" + std::string(some_name) + "[" + std::to_string(i) + "] is not one of function->" +
              all_name);
    }
  }
}

at::Tensor view_of(const at::Tensor& tensor) {
  return tensor.view_as(tensor);
}

variable_list no_forward_mode(const variable_list&, const variable_list&) {
  throw Error(ErrorCode::kUnsupported, "a function has no derivative in forward mode");
}

std::vector<at::Tensor> record(const tdm_function& function) {
  const auto inputs = unwrap_optional_list(function.inputs, function.input_count, "function->inputs");
  const auto outputs = unwrap_list(function.outputs, function.output_count, "function->outputs");
  const auto saved = unwrap_optional_list(function.saved, function.saved_count, "function->saved");
  const auto dirty = unwrap_list(function.dirty, function.dirty_count, "function->dirty");
  const auto fixed =
      unwrap_list(function.non_differentiable, function.non_differentiable_count, "function->non_differentiable");
  require_among(dirty, inputs, "dirty", "inputs");
  require_among(dirty, outputs, "dirty", "outputs");
  require_among(fixed, outputs, "non_differentiable", "outputs");

  const auto callback = std::make_shared<Callback>(function.user_data);
  const bool recorded = at::GradMode::is_enabled() && autograd::any_variable_requires_grad(inputs);
  decltype(make_node<FunctionNode>("", function.backward, callback, true)) node;
  if (recorded) {
    node = make_node<FunctionNode>(function.name ? function.name : "Function", function.backward, callback,
                                   function.materialize_grads != 0);
    node->set_next_edges(autograd::collect_next_edges(inputs));
  }
  for (const auto& tensor : dirty) autograd::impl::bump_version(tensor);

  variable_list given;
  for (const auto& input : inputs) {
    if (input.defined()) given.push_back(input);
  }
  const std::vector<std::optional<at::Tensor>> raw(outputs.begin(), outputs.end());
  const auto wrapped = wrap_outputs(given, implementations(fixed), implementations(dirty), raw, NodePointer(node),
                                    no_forward_mode, implementations({}), view_of, false);
  std::vector<at::Tensor> results;
  for (const auto& output : wrapped) results.push_back(*output);
  if (node) {
    node->describe_outputs(results);
    node->save(saved);
  }
  callback->adopt(function.destroy);
  return results;
}

}  // namespace
}  // namespace tandem::capi

using namespace tandem::capi;

tdm_error* tdm_function_record(const tdm_function* function, tdm_tensor** results) {
  return guard("tdm_function_record", [&] {
    not_null(function, "function");
    const auto given = read_options<tdm_function>(function, TDM_FUNCTION_INIT, "tdm_function");
    not_null(given.backward, "function->backward");
    if (given.output_count == 0) invalid("function->output_count is 0; a function has an output at least");
    not_null(results, "results");
    const auto tensors = record(given);
    for (std::size_t i = 0; i < tensors.size(); ++i) results[i] = make_tensor_handle(tensors[i]);
  });
}
