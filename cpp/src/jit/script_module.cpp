#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

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

// Whether it assigns an attribute, or calls a method that is only known when it runs.
bool may_assign(const torch::jit::Block& block) {
  for (const torch::jit::Node* node : block.nodes()) {
    if (node->kind() == torch::jit::prim::SetAttr || node->kind() == torch::jit::prim::CallMethod) return true;
    for (const torch::jit::Block* inner : node->blocks()) {
      if (may_assign(*inner)) return true;
    }
    for (const c10::Symbol name : node->attributeNames()) {
      if (node->kindOf(name) == torch::jit::AttributeKind::g && may_assign(*node->g(name)->block())) return true;
    }
  }
  return false;
}

}  // namespace

// A slot of the script, and the tensor that it had when the module was made.
struct ScriptModule::Buffer {
  c10::intrusive_ptr<c10::ivalue::Object> owner;
  std::size_t slot;
  at::Tensor tensor;
};

// Which functions may assign attributes, found out when they are first called.
struct ScriptModule::Assigning {
  std::mutex mutex;
  std::map<const torch::jit::Function*, bool> methods;
};

// What was made of a whole module so far: one that has two names is one module.
struct ScriptModule::Known {
  std::map<const void*, std::shared_ptr<ScriptModule>> modules;
  std::shared_ptr<std::vector<Buffer>> buffers = std::make_shared<std::vector<Buffer>>();
  std::shared_ptr<Assigning> assigning = std::make_shared<Assigning>();
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
  assigning_ = known.assigning;
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

// While a method runs that may assign buffers. The script then has other tensors with the buffers' values and memory:
// those that the method gives, or keeps for backward, must not change when an assigned value becomes that of the tensor
// which optimizers, DDP and front ends know.
class ScriptModule::Assignments {
 public:
  explicit Assignments(const std::vector<Buffer>& buffers) : buffers_(buffers) {
    for (const Buffer& buffer : buffers_) {
      seen_.push_back(buffer.tensor.requires_grad() ? buffer.tensor : buffer.tensor.detach());
    }
    for (std::size_t i = 0; i < buffers_.size(); ++i) buffers_[i].owner->setSlot(buffers_[i].slot, seen_[i]);
  }
  ~Assignments() {
    for (const Buffer& buffer : buffers_) buffer.owner->setSlot(buffer.slot, buffer.tensor);
  }
  Assignments(const Assignments&) = delete;
  Assignments& operator=(const Assignments&) = delete;

  void keep() {
    std::vector<at::Tensor> values;  // all before the first is set, for they may be each other's
    for (std::size_t i = 0; i < buffers_.size(); ++i) values.push_back(assigned(i));
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (values[i].defined()) buffers_[i].tensor.set_data(values[i]);
    }
  }

 private:
  at::Tensor assigned(std::size_t i) const {
    const at::IValue& slot = buffers_[i].owner->getSlot(buffers_[i].slot);
    if (!slot.isTensor() || !slot.toTensor().defined() || slot.toTensor().is_same(seen_[i])) return {};
    const at::Tensor now = slot.toTensor().detach();
    if (!now.is_inference()) return now;
    const c10::InferenceMode normal(false);  // else the buffer would be one for good
    return now.clone();
  }

  const std::vector<Buffer>& buffers_;
  std::vector<at::Tensor> seen_;
};

bool ScriptModule::assigns(const torch::jit::Method& method) {
  const std::lock_guard lock(assigning_->mutex);
  const auto [found, is_new] = assigning_->methods.try_emplace(&method.function(), true);
  if (is_new) {
    method.function().ensure_defined();
    const auto graph = torch::jit::toGraphFunction(method.function()).graph()->copy();
    torch::jit::Inline(*graph);
    found->second = may_assign(*graph->block());
  }
  return found->second;
}

at::IValue ScriptModule::call(const std::string& method, std::vector<at::IValue> arguments) {
  torch::jit::Method found = find_method(*script_, method);
  std::vector<at::IValue> values = fit_arguments(method, found.function().getSchema(), std::move(arguments));
  std::optional<Assignments> assignments;
  try {
    if (!buffers_->empty() && assigns(found)) assignments.emplace(*buffers_);
    at::IValue result = found(std::move(values));
    if (assignments) assignments->keep();
    return result;
  } catch (...) {
    if (assignments) assignments->keep();  // what it assigned before it failed stays, as in Python
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
