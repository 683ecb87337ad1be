#include <algorithm>
#include <map>

#include "nn/forward_state.h"
#include "nn/meta_device.h"
#include "nn/parametrizations.h"
#include "nn/registry.h"

namespace tandem::nn {
namespace {

// Constants of other files, in no order, add to it.
std::vector<Registered>& added() {
  static auto* list = new std::vector<Registered>;
  return *list;
}

const std::map<std::string, Factory>& registry() {
  static const auto* all = [] {
    auto* made = new std::map<std::string, Factory>;
    for (const auto table : {activations(), adaptive_softmaxes(), attentions(), convolutions(), distances(), dropouts(),
                             embeddings(), linears(), losses(), normalizations(), paddings(), poolings(), recurrents(),
                             shapes(), transformers(), unpoolings(), upsamplings()}) {
      for (const Registered& entry : table) made->emplace(entry.type, entry.make);
    }
    for (const Registered& entry : added()) made->emplace(entry.type, entry.make);
    return made;
  }();
  return *all;
}

void move(const at::Tensor& tensor, at::Device device, std::optional<at::ScalarType> dtype) {
  if (!tensor.defined()) return;
  const bool converts = dtype && (tensor.is_floating_point() || tensor.is_complex());
  const at::ScalarType wanted = converts ? *dtype : tensor.scalar_type();
  if (tensor.device() == device && tensor.scalar_type() == wanted) return;
  at::Tensor grad = tensor.grad();
  tensor.mutable_grad() = at::Tensor();  // set_data refuses a gradient of another type
  tensor.set_data(tensor.to(device, wanted));
  if (grad.defined()) tensor.mutable_grad() = grad.detach().to(device, wanted);
}

}  // namespace

Registration::Registration(at::ArrayRef<Registered> table) {
  added().insert(added().end(), table.begin(), table.end());
}

Factory find_factory(const std::string& type) {
  const auto found = registry().find(type);
  if (found != registry().end()) return found->second;
  std::string known;
  for (const auto& [name, make] : registry()) known += (known.empty() ? "" : ", ") + name;
  throw Error(ErrorCode::kNotFound, "there is no module '" + type + "'; there are " + known);
}

std::unique_ptr<Module> make_module(const std::string& type, const std::vector<Option>& options) {
  const Factory make = find_factory(type);
  ModuleOptions reader(type, options);
  return make(reader);
}

std::unique_ptr<Module> make_meta_module(const std::string& type, const std::vector<Option>& options) {
  const MetaDevice meta;
  return make_module(type, options);
}

std::vector<std::string> module_types() {
  std::vector<std::string> names;
  for (const auto& [name, make] : registry()) names.push_back(name);
  return names;
}

std::unique_ptr<Module> Module::clone() const {
  std::vector<at::Device> devices{at::kCPU};
  for (const at::Tensor& parameter : get().parameters()) {
    if (!parameter.is_cpu()) devices.push_back(parameter.device());
  }
  return without_random_numbers(devices, [&] { return Parametrizations::copy(*this); });
}

void Module::to(std::optional<at::Device> device, std::optional<at::ScalarType> dtype) {
  if (dtype && !at::isFloatingType(*dtype) && !at::isComplexType(*dtype)) {
    throw Error(ErrorCode::kInvalidArgument,
                type_ + ": parameters can only be of a floating-point dtype, not " + at::toString(*dtype));
  }
  // A device without a number is the current one: compare as tensors say theirs.
  if (device && !device->has_index() && !device->is_cpu()) {
    device = at::empty({0}, at::TensorOptions(*device)).device();
  }
  at::NoGradGuard no_grad;
  for (const auto& tensor : get().parameters()) move(tensor, device.value_or(tensor.device()), dtype);
  for (const auto& tensor : get().buffers()) move(tensor, device.value_or(tensor.device()), dtype);
}

}  // namespace tandem::nn
