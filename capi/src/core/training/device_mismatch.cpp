#include "core/training/device_mismatch.h"

#include <c10/util/StringUtil.h>

#include <optional>

#include "tandem/error.h"

namespace tandem::capi {
namespace {

struct Placed {
  std::string what;
  at::Device device;
};

std::optional<Placed> first_tensor_of(const torch::nn::Module& module) {
  const auto placed = [](const char* kind, const auto& named) -> std::optional<Placed> {
    for (const auto& item : named) {
      const at::Tensor& tensor = item.value();
      if (!tensor.defined()) continue;
      return Placed{c10::str("its ", kind, " '", item.key(), "' ", tensor.sizes(), " is on "), tensor.device()};
    }
    return std::nullopt;
  };
  const auto parameter = placed("parameter", module.named_parameters());
  return parameter ? parameter : placed("buffer", module.named_buffers());
}

// Tensors of a value, in the order that they come in. A packed sequence, a tuple of four, has its batch sizes, which are
// second, on the CPU always.
void add_tensors(const at::IValue& value, std::vector<at::Tensor>& found) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) found.push_back(value.toTensor());
  } else if (value.isTuple()) {
    const auto& parts = value.toTupleRef().elements();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts.size() != 4 || i != 1) add_tensors(parts[i], found);
    }
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) add_tensors(tensor, found);
  }
}

// "value 0 (input) "
std::string name_of_value(const std::string& module, std::size_t index) {
  const std::string value = c10::str("value ", index, " ");
  try {
    const auto arguments = nn::describe_module(module).arguments;
    return index < arguments.size() ? c10::str(value, "(", arguments[index].name, ") ") : value;
  } catch (const Error&) {
    return value;  // a program that was loaded
  }
}

}  // namespace

void explain_devices(const nn::Module& module, at::ArrayRef<at::IValue> given, const c10::Error& error) {
  // Not of what happens to befall a module whose values lie on several devices rightly.
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) || error.msg().find("device") == std::string::npos) return;
  std::optional<Placed> home = first_tensor_of(module.get());
  const bool has_own = home.has_value();
  for (std::size_t i = 0; i < given.size(); ++i) {
    std::vector<at::Tensor> tensors;
    add_tensors(given[i], tensors);
    for (const at::Tensor& tensor : tensors) {
      if (!home) home = Placed{c10::str(name_of_value(module.type(), i), tensor.sizes(), " is on "), tensor.device()};
      if (tensor.device() == home->device) continue;
      throw Error(ErrorCode::kInvalidArgument,
                  c10::str(module.type(), ": forward got ", name_of_value(module.type(), i), tensor.sizes(), " on ",
                           tensor.device(), ", but ", home->what, home->device, "; move the tensor to ", home->device,
                           has_own ? c10::str(", or the module to ", tensor.device()) : std::string(),
                           " (LibTorch: ", error.msg(), ")"));
    }
  }
}

}  // namespace tandem::capi
