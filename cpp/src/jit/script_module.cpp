#include <torch/csrc/jit/api/module.h>

#include <algorithm>
#include <map>

#include "jit/arguments.h"
#include "jit/errors.h"
#include "tandem/error.h"
#include "tandem/jit.h"

namespace tandem::jit {
namespace {

constexpr const char* kTraining = "training";

torch::jit::Method find_method(const torch::jit::Module& module, const std::string& name) {
  if (const auto method = module.find_method(name)) return *method;
  std::vector<std::string> names;
  for (const torch::jit::Method& one : module.get_methods()) names.push_back(one.name());
  std::sort(names.begin(), names.end());
  std::string known;
  for (const std::string& one : names) known += (known.empty() ? "" : ", ") + one;
  throw Error(ErrorCode::kNotFound,
              "the module has no method '" + name + "'; " + (known.empty() ? "it has none" : "it has " + known));
}

// Tensors of a copy that deepcopy() made are not leaves, or train no more.
void train_as(const torch::jit::Module& copy, const torch::jit::Module& original) {
  auto made = copy.parameters().begin();
  for (const at::Tensor& parameter : original.parameters()) {
    (*made).set_requires_grad(parameter.requires_grad());
    ++made;
  }
}

}  // namespace

// A slot of the script, and the tensor that it had when the module was made.
struct ScriptModule::Buffer {
  c10::intrusive_ptr<c10::ivalue::Object> owner;
  std::size_t slot;
  at::Tensor tensor;
};

// What was made of a whole module so far: one that has two names is one module.
struct ScriptModule::Known {
  std::map<const void*, std::shared_ptr<ScriptModule>> modules;
  std::shared_ptr<std::vector<Buffer>> buffers = std::make_shared<std::vector<Buffer>>();
};

ScriptModule::ScriptModule(const torch::jit::Module& script)
    : torch::nn::Module("ScriptModule"), script_(std::make_unique<torch::jit::Module>(script)) {
  Known known;
  adopt(known);
}

ScriptModule::ScriptModule(const torch::jit::Module& script, Known& known)
    : torch::nn::Module("ScriptModule"), script_(std::make_unique<torch::jit::Module>(script)) {
  adopt(known);
}

ScriptModule::~ScriptModule() = default;

void ScriptModule::adopt(Known& known) {
  buffers_ = known.buffers;
  // Of itself alone, as there are no modules below it yet.
  torch::nn::Module::train(script_->hasattr(kTraining) && script_->attr(kTraining).toBool());
  const auto object = script_->_ivalue();
  const auto type = object->type();
  for (std::size_t i = 0; i < type->numAttributes(); ++i) {
    const at::IValue& value = object->getSlot(i);
    const std::string& name = type->getAttributeName(i);
    if (value.isModule()) {
      auto& module = known.modules[value.internalToPointer()];
      if (!module) module.reset(new ScriptModule(value.toModule(), known));
      register_module(name, module);
    } else if (value.isTensor() && value.toTensor().defined()) {
      const at::Tensor& tensor = value.toTensor();
      if (type->is_parameter(i)) {
        register_parameter(name, tensor, tensor.requires_grad());
      } else if (type->is_buffer(i)) {
        register_buffer(name, tensor);
        buffers_->push_back({object, i, tensor});
      }
    }
  }
}

// What the method assigned becomes the data of the tensor that optimizers, DDP and front ends know.
void ScriptModule::keep_buffers() {
  for (const Buffer& buffer : *buffers_) {
    const at::IValue& slot = buffer.owner->getSlot(buffer.slot);
    if (!slot.isTensor() || !slot.toTensor().defined() || slot.toTensor().is_same(buffer.tensor)) continue;
    at::Tensor now = slot.toTensor().detach();
    if (now.is_inference()) {  // else the buffer would be one for good
      const c10::InferenceMode normal(false);
      now = now.clone();
    }
    buffer.tensor.set_data(now);
    buffer.owner->setSlot(buffer.slot, buffer.tensor);
  }
}

at::IValue ScriptModule::call(const std::string& method, std::vector<at::IValue> arguments) {
  torch::jit::Method found = find_method(*script_, method);
  std::vector<at::IValue> values = fit_arguments(method, found.function().getSchema(), std::move(arguments));
  try {
    at::IValue result = found(std::move(values));
    keep_buffers();
    return result;
  } catch (...) {
    rethrow_from_run(method);
  }
}

std::vector<std::string> ScriptModule::methods() const {
  std::vector<std::string> names;
  for (const torch::jit::Method& method : script_->get_methods()) names.push_back(method.name());
  std::sort(names.begin(), names.end());
  return names;
}

std::string ScriptModule::schema(const std::string& method) const {
  return described(method, find_method(*script_, method).function().getSchema());
}

void ScriptModule::train(bool on) {
  torch::nn::Module::train(on);
  const auto object = script_->_ivalue();
  if (const auto slot = object->type()->findAttributeSlot(kTraining)) object->setSlot(*slot, on);
}

std::shared_ptr<torch::nn::Module> ScriptModule::clone(const std::optional<torch::Device>& device) const {
  const at::NoGradGuard no_grad;
  torch::jit::Module copy = script_->deepcopy();
  if (device) copy.to(*device);
  train_as(copy, *script_);
  return std::make_shared<ScriptModule>(copy);
}

}  // namespace tandem::jit
