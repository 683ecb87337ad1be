#include "nn/thread_generator.h"

#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <mutex>

namespace tandem::nn {
namespace {

// Asked before all others on a thread that includes it. LibTorch itself uses it in no operator.
constexpr c10::DispatchKey kKey = c10::DispatchKey::TESTING_ONLY_GenericMode;

thread_local const at::Generator* current = nullptr;

bool is_generator(const c10::Argument& argument) {
  return *argument.type() == *c10::OptionalType::create(c10::GeneratorType::get());
}

// Puts this thread's generator where none is given, for what is on the CPU.
void draw_from_current(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  if (current) {
    const auto& arguments = op.schema().arguments();
    const std::size_t first = stack->size() - arguments.size();
    bool on_cpu = false, elsewhere = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const c10::IValue& value = (*stack)[first + i];
      if (!value.isTensor() || !value.toTensor().defined()) continue;
      (value.toTensor().is_cpu() ? on_cpu : elsewhere) = true;
    }
    for (std::size_t i = 0; i < arguments.size() && on_cpu && !elsewhere; ++i) {
      c10::IValue& value = (*stack)[first + i];
      if (value.isNone() && is_generator(arguments[i])) value = *current;
    }
  }
  op.redispatchBoxed(keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kKey), stack);
}

// For every operator that takes a generator and a tensor: all others are made of these.
void register_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    // For the process's life.
    static auto* const rest = new torch::Library(torch::Library::IMPL, "_", kKey, __FILE__, __LINE__);
    rest->fallback(torch::CppFunction::makeFallthrough());
    static auto* const drawing = new torch::Library(torch::Library::IMPL, "aten", kKey, __FILE__, __LINE__);
    c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
    for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
      if (name.getNamespace() != "aten") continue;
      const auto op = dispatcher.findOp(name);
      if (!op || !op->hasSchema()) continue;
      const auto& arguments = op->schema().arguments();
      if (std::none_of(arguments.begin(), arguments.end(), is_generator)) continue;
      const std::string full = name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
      drawing->impl(full.c_str(), torch::CppFunction::makeFromBoxedFunction<&draw_from_current>());
    }
  });
}

}  // namespace

ThreadGenerator::ThreadGenerator(at::Generator generator)
    : generator_(std::move(generator)), outer_(current), asked_((register_once(), kKey)) {
  current = &generator_;
}

ThreadGenerator::~ThreadGenerator() {
  current = outer_;
}

at::Generator current_generator(at::Device device) {
  return current && device.is_cpu() ? *current : at::globalContext().defaultGenerator(device);
}

}  // namespace tandem::nn
