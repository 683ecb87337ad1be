// Autograd, and the rest of LibTorch's state that the ABI sets.
#include <torch/torch.h>

#include <sstream>

#include "core/handles/handles.h"
#include "core/operators/intra_op.h"
#include "core/operators/on_cpu.h"
#include "tandem/runtime.h"

using namespace tandem::capi;

namespace {

using Tensors = std::vector<at::Tensor>;

std::string element(const char* argument, std::size_t index) {
  return std::string("argument '") + argument + "'[" + std::to_string(index) + "]";
}

// Roots of a backward pass need a graph, and a gradient unless they are scalars.
void check_roots(const Tensors& roots, const Tensors& gradients, const char* roots_name, const char* gradients_name) {
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (!roots[i].requires_grad()) {
      invalid(element(roots_name, i) +
              " does not require grad: none of its inputs has requires_grad set, or it was computed with grad mode "
              "off; set requires_grad on the parameters before the forward pass");
    }
    std::ostringstream message;
    if (gradients[i].defined()) {
      if (gradients[i].sizes() == roots[i].sizes()) continue;
      message << element(gradients_name, i) << " has sizes " << gradients[i].sizes() << ", but "
              << element(roots_name, i) << " has sizes " << roots[i].sizes();
    } else {
      if (roots[i].numel() == 1) continue;
      message << element(roots_name, i) << " has sizes " << roots[i].sizes()
              << ": only a scalar can do without a gradient; reduce it (sum, mean) or give " << gradients_name;
    }
    invalid(message.str());
  }
}

// A program's callbacks find the scope around them on the caller's thread only.
template <typename Work>
void run_backward(const Tensors& roots, const Tensors& gradients, Work&& work) {
  if (tandem::live_count(tandem::Kind::kCallback) != 0) {
    work();
  } else {
    run_large([&] { return is_on_cpu(gradients) && graph_is_on_cpu(roots); }, work);
  }
}

}  // namespace

tdm_error* tdm_autograd_backward(tdm_tensor* const* tensors, tdm_tensor* const* gradients, std::size_t count,
                                 std::int32_t retain_graph, std::int32_t create_graph) {
  return guard("tdm_autograd_backward", [&] {
    const Tensors roots = unwrap_list(tensors, count, "tensors");
    const Tensors grads = unwrap_optional_list(gradients, count, "gradients");
    check_roots(roots, grads, "tensors", "gradients");
    run_backward(roots, grads, [&] {
      torch::autograd::backward(roots, grads, retain_graph != 0 || create_graph != 0, create_graph != 0);
    });
    static std::once_flag once;
    std::call_once(once, tandem::rearm_exit);
  });
}

tdm_error* tdm_autograd_grad(tdm_tensor* const* outputs, tdm_tensor* const* grad_outputs, std::size_t output_count,
                             tdm_tensor* const* inputs, std::size_t input_count, std::int32_t retain_graph,
                             std::int32_t create_graph, std::int32_t allow_unused, tdm_tensor** results) {
  return guard("tdm_autograd_grad", [&] {
    const Tensors roots = unwrap_list(outputs, output_count, "outputs");
    const Tensors grads = unwrap_optional_list(grad_outputs, output_count, "grad_outputs");
    const Tensors wanted = unwrap_list(inputs, input_count, "inputs");
    if (input_count == 0) return;
    not_null(results, "results");
    check_roots(roots, grads, "outputs", "grad_outputs");
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!wanted[i].requires_grad()) {
        invalid(element("inputs", i) + " does not require grad; set requires_grad on it before the forward pass");
      }
    }
    Tensors found;
    run_backward(roots, grads, [&] {
      found = torch::autograd::grad(roots, wanted, grads, retain_graph != 0 || create_graph != 0, create_graph != 0,
                                    allow_unused != 0);
    });
    for (std::size_t i = 0; i < input_count; ++i) {
      results[i] = found[i].defined() ? make_tensor_handle(found[i]) : nullptr;
    }
  });
}

tdm_error* tdm_tensor_grad(const tdm_tensor* tensor, tdm_tensor** out) {
  return guard("tdm_tensor_grad", [&] {
    not_null(out, "out");
    const at::Tensor& t = unwrap(tensor, "tensor");
    // Asking another tensor for its gradient only makes LibTorch print a warning.
    const at::Tensor grad = t.is_leaf() || t.retains_grad() ? t.grad() : at::Tensor();
    *out = grad.defined() ? make_tensor_handle(grad) : nullptr;
  });
}

tdm_error* tdm_tensor_set_grad(tdm_tensor* tensor, const tdm_tensor* grad) {
  return guard("tdm_tensor_set_grad", [&] {
    const at::Tensor& t = unwrap(tensor, "tensor");
    const at::Tensor value = unwrap_optional(grad, "grad");
    if (!t.is_leaf()) invalid("argument 'tensor' is no leaf of the graph: only leaves hold gradients");
    if (value.defined() &&
        (value.sizes() != t.sizes() || value.scalar_type() != t.scalar_type() || value.device() != t.device())) {
      std::ostringstream message;
      message << "argument 'grad' is " << value.toString() << " of sizes " << value.sizes() << " on " << value.device()
              << "; the tensor is " << t.toString() << " of sizes " << t.sizes() << " on " << t.device();
      invalid(message.str());
    }
    t.mutable_grad() = value;
  });
}

tdm_error* tdm_tensor_set_requires_grad(tdm_tensor* tensor, std::int32_t requires_grad) {
  return guard("tdm_tensor_set_requires_grad", [&] {
    const at::Tensor& t = unwrap(tensor, "tensor");
    if (requires_grad && !t.is_floating_point() && !t.is_complex()) {
      invalid("argument 'tensor' is " + t.toString() + ": only floating-point and complex tensors can require grad");
    }
    if (!requires_grad && !t.is_leaf()) {
      invalid("argument 'tensor' is no leaf of the graph; use a detached one (aten::detach)");
    }
    t.set_requires_grad(requires_grad != 0);
  });
}

tdm_error* tdm_manual_seed(std::uint64_t seed) {
  return guard("tdm_manual_seed", [&] { torch::manual_seed(seed); });
}

tdm_error* tdm_set_num_threads(std::int32_t threads) {
  return guard("tdm_set_num_threads", [&] {
    check_threads(threads);
    set_intra_op_threads(threads);
  });
}

tdm_error* tdm_get_num_threads(std::int32_t* out) {
  return guard("tdm_get_num_threads", [&] {
    not_null(out, "out");
    *out = intra_op_threads();
  });
}

tdm_error* tdm_cuda_device_count(std::int32_t* out) {
  return guard("tdm_cuda_device_count", [&] {
    not_null(out, "out");
    *out = tandem::has_cuda() ? static_cast<std::int32_t>(torch::cuda::device_count()) : 0;
  });
}
