#include "nn/modules/lstm_step.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "nn/kernel_calls.h"

namespace tandem::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Beside each other in the columns of one tensor.
struct Gates {
  explicit Gates(const at::Tensor& all) {
    const std::int64_t size = all.size(1) / 4;
    in = all.narrow(1, 0, size);
    forget = all.narrow(1, size, size);
    candidate = all.narrow(1, 2 * size, size);
    out = all.narrow(1, 3 * size, size);
  }
  at::Tensor in, forget, candidate, out;
};

// By LibTorch's operators, for derivatives of the derivatives.
variable_list differentiable_gradients(const variable_list& saved, const variable_list& gradients) {
  variable_list inputs(saved.begin(), saved.begin() + 7), wanted;
  // Aliases, which lead to the inputs, but not one through another.
  for (at::Tensor& input : inputs) input = input.view_as(input);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].requires_grad()) continue;
    wanted.push_back(inputs[i]);
    places.push_back(i);
  }
  const auto [hidden, cell] =
      at::lstm_cell(inputs[0], {inputs[1], inputs[2]}, inputs[3], inputs[4], inputs[5], inputs[6]);
  variable_list outputs, given;
  for (const auto& [output, gradient] : {std::pair(hidden, gradients[0]), std::pair(cell, gradients[1])}) {
    if (!gradient.defined()) continue;
    outputs.push_back(output);
    given.push_back(gradient);
  }
  variable_list results(7);
  const variable_list found = torch::autograd::grad(outputs, wanted, given, /*retain_graph=*/true,
                                                    /*create_graph=*/true, /*allow_unused=*/true);
  for (std::size_t i = 0; i < places.size(); ++i) results[places[i]] = found[i];
  return results;
}

struct Step : torch::autograd::Function<Step> {
  static variable_list forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& hidden,
                               const at::Tensor& cell, const at::Tensor& input_weight, const at::Tensor& hidden_weight,
                               const at::Tensor& input_bias, const at::Tensor& hidden_bias) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const at::Tensor all = at::addmm(hidden_bias, hidden, hidden_weight.t());
    all.add_(at::addmm(input_bias, input, input_weight.t()));
    const Gates gates(all);
    gates.in.sigmoid_();
    gates.forget.sigmoid_();
    gates.candidate.tanh_();
    gates.out.sigmoid_();
    const at::Tensor next = at::mul(gates.forget, cell).add_(at::mul(gates.in, gates.candidate));
    const at::Tensor tanh = next.tanh();
    context->save_for_backward({input, hidden, cell, input_weight, hidden_weight, input_bias, hidden_bias, all, tanh});
    context->set_materialize_grads(false);
    return {at::mul(gates.out, tanh), next};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    if (!gradients[0].defined() && !gradients[1].defined()) return variable_list(7);
    const auto has_tangent = [](const at::Tensor& one) { return one.defined() && one._fw_grad(/*level=*/0).defined(); };
    if (at::GradMode::is_enabled() || std::ranges::any_of(gradients, has_tangent)) {
      const at::AutoGradMode records(true);
      return differentiable_gradients(saved, gradients);
    }
    const at::AutoDispatchBelowADInplaceOrView below;
    const at::Tensor &cell = saved[2], &tanh = saved[8], &of_hidden = gradients[0];
    const Gates gates(saved[7]);
    at::Tensor of_gates = at::empty_like(saved[7]), of_next = gradients[1];
    Gates of(of_gates);
    if (of_hidden.defined()) {
      const at::Tensor through_hidden = at::tanh_backward(at::mul(of_hidden, gates.out), tanh);
      of_next = of_next.defined() ? at::add(of_next, through_hidden) : through_hidden;
      at::sigmoid_backward_out(of.out, at::mul(of_hidden, tanh), gates.out);
    } else {
      of.out.zero_();
    }
    at::sigmoid_backward_out(of.in, at::mul(of_next, gates.candidate), gates.in);
    at::sigmoid_backward_out(of.forget, at::mul(of_next, cell), gates.forget);
    at::tanh_backward_out(of.candidate, at::mul(of_next, gates.in), gates.candidate);
    variable_list results(7);
    const at::Tensor turned = of_gates.t();
    if (context->needs_input_grad(0)) results[0] = at::mm(of_gates, saved[3]);
    if (context->needs_input_grad(1)) results[1] = at::mm(of_gates, saved[4]);
    if (context->needs_input_grad(2)) results[2] = at::mul(of_next, gates.forget);
    if (context->needs_input_grad(3)) results[3] = at::mm(turned, saved[0]);
    if (context->needs_input_grad(4)) results[4] = at::mm(turned, saved[1]);
    if (context->needs_input_grad(5)) results[5] = of_gates.sum(0);
    if (context->needs_input_grad(6)) results[6] = results[5].defined() ? results[5].clone() : of_gates.sum(0);
    return results;
  }
};

bool is_plain_matrix(const at::Tensor& tensor, at::ScalarType dtype, std::int64_t rows, std::int64_t columns) {
  return is_plain(tensor, dtype) && tensor.dim() == 2 && tensor.size(0) == rows && tensor.size(1) == columns;
}

}  // namespace

std::optional<std::tuple<at::Tensor, at::Tensor>> lstm_step(const at::Tensor& input, const at::Tensor& hidden,
                                                            const at::Tensor& cell, const LstmWeights& weights) {
  if (!goes_to_kernels() || input.dim() != 2 || weights.hidden.dim() != 2 || weights.hidden.size(0) % 4 != 0) {
    return std::nullopt;
  }
  const at::ScalarType dtype = input.scalar_type();
  if (dtype != at::kFloat && dtype != at::kDouble) return std::nullopt;
  const std::int64_t batch = input.size(0), width = input.size(1), gates = weights.hidden.size(0), size = gates / 4;
  if (!is_plain_matrix(input, dtype, batch, width) || !is_plain_matrix(hidden, dtype, batch, size) ||
      !is_plain_matrix(cell, dtype, batch, size) || !is_plain_matrix(weights.input, dtype, gates, width) ||
      !is_plain_matrix(weights.hidden, dtype, gates, size)) {
    return std::nullopt;
  }
  for (const at::Tensor* bias : {&weights.input_bias, &weights.hidden_bias}) {
    if (!is_plain(*bias, dtype) || bias->dim() != 1 || bias->size(0) != gates) return std::nullopt;
  }
  const variable_list next = Step::apply(input, hidden, cell, weights.input, weights.hidden, weights.input_bias,
                                         weights.hidden_bias);
  return std::tuple(next[0], next[1]);
}

}  // namespace tandem::nn
