#include "ddp/gradients/products.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/library.h>

#include <mutex>
#include <optional>
#include <utility>

#include "ddp/gradients/places.h"
#include "nn/kernel_calls.h"

namespace tandem {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// How a graph holds it.
struct Held final : torch::CustomClassHolder {
  explicit Held(GradientPlace p) : place(std::move(p)) {}
  const GradientPlace place;
};

// The columns of a matrix lie one after the other, without room between them.
bool is_transposed(const at::Tensor& matrix) {
  return matrix.stride(0) == 1 && matrix.stride(1) == matrix.size(0);
}

// left · right (+ added), where `right` is the weight, or its transpose. Gradients as derivatives.yaml of LibTorch has
// them for mm and addmm, so that they have the same bits.
struct Product : torch::autograd::Function<Product> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& left, const at::Tensor& right,
                            const std::optional<at::Tensor>& added, c10::intrusive_ptr<Held> held) {
    const at::AutoDispatchBelowADInplaceOrView below;
    // As LibTorch does, and in its order, which checkpoints go by: a weight that no gradient goes through may change before
    // backward.
    context->save_for_backward({left.requires_grad() ? right : at::Tensor(), left});
    context->saved_data["place"] = c10::IValue::make_capsule(std::move(held));
    context->saved_data["left"] = is_transposed(left);
    context->saved_data["right"] = is_transposed(right);
    context->saved_data["added"] = added.has_value();
    context->set_materialize_grads(false);
    return added ? at::addmm(*added, left, right) : at::mm(left, right);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    variable_list results(4);
    const at::Tensor& gradient = gradients[0];
    if (!gradient.defined()) return results;
    const auto saved = [&](const char* what) -> const c10::IValue& { return context->saved_data[what]; };
    const variable_list matrices = context->get_saved_variables();  // for which a checkpoint may compute them anew
    const at::Tensor &right = matrices[0], &left = matrices[1];
    const bool plain = !at::GradMode::is_enabled() && nn::is_plain(gradient, gradient.scalar_type());
    at::Tensor place;
    if (plain && context->needs_input_grad(1)) {
      const auto held = c10::static_intrusive_pointer_cast<Held>(saved("place").toCapsule());
      place = held->place.take(/*edge=*/1);
    }
    {
      std::optional<at::AutoDispatchBelowADInplaceOrView> below;
      if (plain) below.emplace();
      if (context->needs_input_grad(0)) {
        results[0] = saved("left").toBool() ? right.mm(gradient.t()).t() : gradient.mm(right.t());
      }
      if (context->needs_input_grad(1)) {
        const bool turned = saved("right").toBool();
        const at::Tensor first = turned ? gradient.t() : left.t(), second = turned ? left : gradient;
        results[1] = place.defined() ? at::mm_out(place, first, second) : first.mm(second);
      }
    }
    // Whoever kept the last gradient, which was there, for the graph of this one is told by autograd.
    if (place.defined()) torch::autograd::impl::bump_version(place);
    if (results[1].defined() && saved("right").toBool()) results[1] = results[1].t();
    // The engine sums it to the shape of what was added.
    if (saved("added").toBool() && context->needs_input_grad(2)) results[2] = gradient;
    return results;
  }
};

std::optional<GradientPlace> place_for(const at::Tensor& left, const at::Tensor& right) {
  if (!at::GradMode::is_enabled() || !right.defined() || !right.requires_grad()) return std::nullopt;
  const bool is_leaf = right.is_leaf();
  if (!is_leaf && !right.is_view()) return std::nullopt;
  const at::Tensor weight = is_leaf ? right : at::Tensor(right._base());
  auto place = GradientPlace::of(weight);
  if (!place || !nn::goes_to_kernels()) return std::nullopt;
  const at::ScalarType dtype = weight.scalar_type();
  if (dtype != at::kFloat && dtype != at::kDouble) return std::nullopt;
  if (!nn::is_plain(weight, dtype) || weight.dim() != 2 || !weight.is_contiguous()) return std::nullopt;
  if (!nn::is_plain(right, dtype) || right.dim() != 2 || !nn::is_plain(left, dtype) || left.dim() != 2) {
    return std::nullopt;
  }
  // What does not fit is left to LibTorch, which refuses it.
  if (left.size(1) != right.size(0) || left.numel() == 0) return std::nullopt;
  if (!is_leaf && (right.size(0) != weight.size(1) || right.size(1) != weight.size(0) || !is_transposed(right) ||
                   right.storage_offset() != weight.storage_offset())) {
    return std::nullopt;
  }
  // The place has the weight's shape.
  if (is_leaf && is_transposed(right)) return std::nullopt;
  return place;
}

// LibTorch's own kernel, which it has for every backend alike.
c10::DispatchKeySet to_libtorch(c10::DispatchKeySet keys) {
  return (keys & c10::after_autograd_keyset) | c10::DispatchKeySet(c10::DispatchKey::AutogradOther);
}

using Mm = at::Tensor(const at::Tensor&, const at::Tensor&);

at::Tensor mm(c10::DispatchKeySet keys, const at::Tensor& left, const at::Tensor& right) {
  if (auto place = place_for(left, right)) {
    return Product::apply(left, right, std::optional<at::Tensor>(), c10::make_intrusive<Held>(*std::move(place)));
  }
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::mm", "").typed<Mm>();
  return op.redispatch(to_libtorch(keys), left, right);
}

using Addmm = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Scalar&, const at::Scalar&);

at::Tensor addmm(c10::DispatchKeySet keys, const at::Tensor& added, const at::Tensor& left, const at::Tensor& right,
                 const at::Scalar& beta, const at::Scalar& alpha) {
  if (beta.equal(1) && alpha.equal(1) && added.defined() && added.dim() <= 2) {
    if (auto place = place_for(left, right); place && nn::is_plain(added, right.scalar_type())) {
      return Product::apply(left, right, std::optional(added), c10::make_intrusive<Held>(*std::move(place)));
    }
  }
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::addmm", "").typed<Addmm>();
  return op.redispatch(to_libtorch(keys), added, left, right, beta, alpha);
}

}  // namespace

void register_products() {
  static std::once_flag once;
  std::call_once(once, [] {
    // For the process's life.
    static auto* const library = new torch::Library(torch::Library::IMPL, "aten", c10::DispatchKey::AutogradCPU,
                                                    __FILE__, __LINE__);
    library->impl("mm", TORCH_FN(mm));
    library->impl("addmm", TORCH_FN(addmm));
  });
}

}  // namespace tandem
