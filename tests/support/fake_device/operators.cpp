// What the fake device computes, and how: on the CPU, on copies. Views are of its own memory.
#include <ATen/ATen.h>
#include <ATen/NativeFunctions.h>
#include <ATen/native/CPUFallback.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "support/fake_device/fake_device.h"

namespace tandem::testing::fake_device {
namespace {

using Given = const std::optional<at::Tensor>&;

// Of one call: the device that its tensors are on. A number, which is a tensor of no dimensions on the CPU, goes anywhere.
class OneDevice {
 public:
  explicit OneDevice(std::string op) : op_(std::move(op)) {}

  void add(const at::Tensor& tensor, const std::string& name) {
    if (!tensor.defined() || is_number(tensor)) return;
    if (!device_) device_ = tensor.device();
    TORCH_CHECK(tensor.device() == *device_, "Expected all tensors to be on the same device, but got ", name, " is on ",
                tensor.device(), ", different from other tensors on ", *device_,
                " (when checking argument in method fake_device::", op_, ")");
  }
  void add(Given tensor, const std::string& name) {
    if (tensor) add(*tensor, name);
  }

  static bool is_number(const at::Tensor& tensor) { return tensor.is_cpu() && tensor.dim() == 0; }
  const std::optional<at::Device>& device() const { return device_; }

 private:
  const std::string op_;
  std::optional<at::Device> device_;
};

// Indices of tensors may be on the CPU. So are, always, the lengths that sequences are packed by.
void check_and_move_numbers(const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  const auto& arguments = op.schema().arguments();
  const std::size_t begin = stack.size() - arguments.size();
  OneDevice one(op.schema().name());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const c10::IValue& value = stack[begin + i];
    if (arguments[i].name() == "lengths") continue;
    if (value.isTensor()) {
      one.add(value.toTensor(), arguments[i].name());
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) one.add(tensor, arguments[i].name());
    }
  }
  if (!one.device()) return;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    c10::IValue& value = stack[begin + i];
    if (!value.isTensor() || !value.toTensor().defined() || !OneDevice::is_number(value.toTensor())) continue;
    value = value.toTensor().to(*one.device());  // a result is where the first tensor is
  }
}

void compute_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  check_and_move_numbers(op, *stack);
  at::native::cpu_fallback(op, stack, /*error_on_views=*/true);
}

at::Tensor host(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.cpu() : tensor;
}
std::optional<at::Tensor> host(Given tensor) {
  return tensor && tensor->defined() ? std::optional(tensor->cpu()) : std::nullopt;
}
at::Tensor back(const at::Tensor& tensor, at::Device to) {
  return tensor.defined() ? tensor.to(to) : tensor;
}

// LibTorch has no kernels of the CPU's by these names.
at::Tensor convolution(const at::Tensor& input, const at::Tensor& weight, Given bias, at::IntArrayRef stride,
                       at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                       at::IntArrayRef output_padding, std::int64_t groups) {
  OneDevice one("convolution");
  one.add(input, "input");
  one.add(weight, "weight");
  one.add(bias, "bias");
  return back(at::convolution(host(input), host(weight), host(bias), stride, padding, dilation, transposed,
                              output_padding, groups),
              input.device());
}

using Three = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

Three back(const Three& results, at::Device to) {
  const auto& [a, b, c] = results;
  return {back(a, to), back(b, to), back(c, to)};
}

Three convolution_backward(const at::Tensor& gradient, const at::Tensor& input, const at::Tensor& weight,
                           at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                           at::IntArrayRef output_padding, std::int64_t groups, std::array<bool, 3> mask) {
  const std::array<std::int64_t, 1> bias{gradient.size(1)};
  return back(at::convolution_backward(host(gradient), host(input), host(weight), at::IntArrayRef(bias), stride,
                                       padding, dilation, transposed, output_padding, groups, mask),
              input.device());
}

// Its schema does not say that it writes the running statistics.
Three batch_norm(const at::Tensor& input, Given weight, Given bias, Given mean, Given variance, bool training,
                 double momentum, double eps) {
  OneDevice one("native_batch_norm");
  one.add(input, "input");
  one.add(weight, "weight");
  one.add(bias, "bias");
  one.add(mean, "running_mean");
  one.add(variance, "running_var");
  const auto host_mean = host(mean), host_variance = host(variance);
  const Three results = at::native_batch_norm(host(input), host(weight), host(bias), host_mean, host_variance, training,
                                              momentum, eps);
  if (training && host_mean) mean->copy_(*host_mean);
  if (training && host_variance) variance->copy_(*host_variance);
  return back(results, input.device());
}

// Memory that moves is read at once.
const at::Tensor& resize_(const at::Tensor& self, at::IntArrayRef sizes, std::optional<at::MemoryFormat> format) {
  synchronize(self);
  const c10::DeviceGuard on_device(self.device());
  return at::native::resize_(self, sizes, format);
}

at::Tensor copy_from_and_resize(const at::Tensor& source, const at::Tensor& to) {
  if (to.sizes() != source.sizes()) resize_(to, source.sizes(), std::nullopt);
  return at::_copy_from(source, to);
}

at::Tensor& set_storage(at::Tensor& self, at::Storage source, std::int64_t offset, at::IntArrayRef sizes,
                        at::IntArrayRef strides) {
  const c10::DeviceGuard on_device(self.device());
  return at::native::set_storage_cpu_(self, std::move(source), offset, sizes, strides);
}

// Parameters move to and from the device in place.
bool may_take_data_of(const at::Tensor&, const at::Tensor& from) {
  return from.layout() == at::kStrided;
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&compute_on_cpu>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("view", static_cast<at::Tensor (*)(const at::Tensor&, at::IntArrayRef)>(at::native::view));
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("unfold", at::native::unfold);
  m.impl("view_as_real", at::native::view_as_real);
  m.impl("view_as_complex", at::native::view_as_complex);
  m.impl("resize_", resize_);
  m.impl("set_.source_Storage_storage_offset", set_storage);
  m.impl("set_.source_Storage", static_cast<at::Tensor& (*)(at::Tensor&, at::Storage)>(at::native::set_));
  m.impl("set_.source_Tensor", at::native::set_tensor_);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("_has_compatible_shallow_copy_type", may_take_data_of);
  m.impl("convolution_overrideable", convolution);
  m.impl("convolution_backward_overrideable", convolution_backward);
  m.impl("native_batch_norm", batch_norm);
}

}  // namespace
}  // namespace tandem::testing::fake_device
