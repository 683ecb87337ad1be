#include "nn/saved_tensor_hooks.h"

#include <ATen/SavedTensorHooks.h>
#include <torch/csrc/autograd/engine.h>

#include "tandem/error.h"

namespace tandem::nn {
namespace {

using torch::autograd::Engine;
using NodePointer = decltype(torch::autograd::Edge::function);

thread_local SavedTensorHooks* innermost = nullptr;

// Answers for saved tensors and leaves all work to LibTorch's engine, which alone has threads for devices.
struct HookingEngine final : Engine {
  torch::autograd::variable_list execute(const torch::autograd::edge_list& roots,
                                         const torch::autograd::variable_list& inputs, bool keep_graph,
                                         bool create_graph, bool accumulate_grad,
                                         const torch::autograd::edge_list& outputs) override {
    return get_base_engine().execute(roots, inputs, keep_graph, create_graph, accumulate_grad, outputs);
  }

  c10::intrusive_ptr<at::ivalue::Future> execute_with_graph_task(
      const std::shared_ptr<torch::autograd::GraphTask>& graph_task, NodePointer graph_root,
      torch::autograd::InputBuffer&& input_buffer) override {
    return get_base_engine().execute_with_graph_task(graph_task, std::move(graph_root), std::move(input_buffer));
  }

  std::unique_ptr<torch::autograd::SavedVariableHooks> get_default_saved_variable_hooks() override {
    return innermost ? innermost->make() : nullptr;
  }
};

Engine& hooking_engine() {
  static auto* engine = new HookingEngine;  // never destroyed: graphs may outlive static destructors
  return *engine;
}

bool install() {
  Engine& base = Engine::get_base_engine();
  if (&Engine::get_default_engine() != &base) return false;
  // Threads for devices are started once in a process, by the first engine that is asked to.
  base.initialize_device_threads_pool();
  torch::autograd::set_default_engine_stub(hooking_engine);
  at::SavedTensorDefaultHooks::lazy_initialize();
  return true;
}

}  // namespace

SavedTensorHooks::SavedTensorHooks() : outer_(innermost) {
  static const bool installed = install();
  if (!installed) {
    throw Error(ErrorCode::kUnsupported,
                "activation checkpoints need LibTorch's own autograd engine, but this process runs another one "
                "(Python's torch?)");
  }
  innermost = this;
}

SavedTensorHooks::~SavedTensorHooks() {
  innermost = outer_;
}

SavedTensorHooks* SavedTensorHooks::current() {
  return innermost;
}

SavedTensorHooks::Borrowed::Borrowed(SavedTensorHooks* hooks) : own_(innermost) {
  innermost = hooks;
}

SavedTensorHooks::Borrowed::~Borrowed() {
  innermost = own_;
}

}  // namespace tandem::nn
