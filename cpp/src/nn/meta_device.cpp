#include "nn/meta_device.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <mutex>

namespace tandem::nn {
namespace {

// LibTorch itself uses it in no operator.
constexpr c10::DispatchKey kMetaKey = c10::DispatchKey::TESTING_ONLY_GenericWrapper;

std::optional<std::size_t> place_of_device(const c10::FunctionSchema& schema) {
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    if (argument.name() == "device" && *argument.type() == *c10::OptionalType::create(c10::DeviceObjType::get())) {
      return i;
    }
  }
  return std::nullopt;
}

bool takes_tensors(const c10::FunctionSchema& schema) {
  for (const c10::Argument& argument : schema.arguments()) {
    if (argument.type()->isSubtypeOf(*c10::TensorType::get())) return true;
  }
  return false;
}

void make_on_meta(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  const std::size_t first = stack->size() - op.schema().arguments().size();
  c10::IValue& device = (*stack)[first + *place_of_device(op.schema())];
  if (device.isNone() || device.toDevice().is_cpu()) device = c10::Device(c10::kMeta);
  op.redispatchBoxed(keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kMetaKey), stack);
}

// For every operator that makes a tensor of none.
void register_factories_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    // For the process's life.
    static auto* const rest = new torch::Library(torch::Library::IMPL, "_", kMetaKey, __FILE__, __LINE__);
    rest->fallback(torch::CppFunction::makeFallthrough());
    static auto* const making = new torch::Library(torch::Library::IMPL, "aten", kMetaKey, __FILE__, __LINE__);
    c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
    for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
      if (name.getNamespace() != "aten") continue;
      const auto op = dispatcher.findOp(name);
      if (!op || !op->hasSchema() || !place_of_device(op->schema()) || takes_tensors(op->schema())) continue;
      const std::string full = name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
      making->impl(full.c_str(), torch::CppFunction::makeFromBoxedFunction<&make_on_meta>());
    }
  });
}

}  // namespace

MetaDevice::MetaDevice() : asked_((register_factories_once(), kMetaKey)) {}

}  // namespace tandem::nn
