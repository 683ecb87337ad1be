// TorchScript: modules that Python scripted or traced, and functions that are compiled or traced here.
//
//   auto model = tandem::jit::load("model.pt");                       // torch.jit.save in Python
//   tandem::DistributedDataParallel<std::shared_ptr<tandem::jit::ScriptModule>> ddp(model, group);
//   auto loss = torch::nll_loss(ddp.forward(images).toTensor(), labels);
//
// PyTorch has deprecated TorchScript in favour of torch.export.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tandem/export.h"
#include "tandem/named_tensors.h"
#include "tandem/nested.h"

namespace torch::jit {
struct Method;
struct Module;
}  // namespace torch::jit

namespace tandem::jit {

// A module of TorchScript as a torch::nn module: its parameters, buffers and modules have Python's names, and are those
// of the script, so that optimizers, DDP, checkpoints, train() and to() are as with every other. Modules below it are
// ScriptModules as well. A buffer that a method assigns stays the same tensor here, with the new value.
//
// Methods may be called by several threads at once where they assign no attribute, and nobody trains, moves or loads
// the module meanwhile; a module's first calls, in which LibTorch compiles, too.
// Source: torch::jit::Module, torch.jit.ScriptModule.
class TANDEM_API ScriptModule : public torch::nn::Module {
 public:
  explicit ScriptModule(const torch::jit::Module& script);
  ~ScriptModule() override;

  // Calls a method. Arguments take the types of its schema: an int is a float where one is wanted, lists and dicts may
  // have any types that the elements fit, a tuple does for a list and the other way. What is left out at the end has
  // the schema's default. Throws tandem::Error: kNotFound for an unknown method, which lists those that there are;
  // kInvalidArgument for arguments that do not fit, with the schema, and for what the method raises.
  at::IValue call(const std::string& method, std::vector<at::IValue> arguments);

  template <typename... Arguments>
  at::IValue forward(Arguments&&... arguments) {
    return call("forward", {at::IValue(std::forward<Arguments>(arguments))...});
  }

  // Sorted.
  std::vector<std::string> methods() const;
  // "forward(x: Tensor, by: int = 1) -> Tensor". Throws tandem::Error (kNotFound).
  std::string schema(const std::string& method) const;

  // As torch.jit.save writes it, for torch.jit.load. Throws tandem::Error (kIo, kNotFound), and kUnsupported for what
  // TorchScript cannot save.
  void save(const std::string& path) const;
  std::string save_bytes() const;

  void train(bool on = true) override;
  // With tensors of its own, on their devices or on `device`.
  std::shared_ptr<torch::nn::Module> clone(const std::optional<torch::Device>& device = std::nullopt) const override;

  const torch::jit::Module& script() const { return *script_; }

 private:
  struct Buffer;
  struct Known;
  struct Assigning;
  class Assignments;

  ScriptModule(const torch::jit::Module& script, Known& known);
  void adopt(Known& known);
  bool assigns(const torch::jit::Method& method);

  std::unique_ptr<torch::jit::Module> script_;
  std::shared_ptr<std::vector<Buffer>> buffers_;  // of the whole module of which this is a part
  std::shared_ptr<Assigning> assigning_;
};

// A file of torch.jit.save, whole or from memory; tensors come to the CPU. Nothing of the file is run: its code is
// compiled, which methods then run when they are called, as a program of whoever wrote it. `name`: for messages.
// Throws tandem::Error: kNotFound, kIo; kDataLoss for a file that is damaged, or no module of TorchScript; kUnsupported
// for an operator that this LibTorch lacks, and for what loading would have to run (__setstate__, quantized modules).
TANDEM_API std::shared_ptr<ScriptModule> load(const std::string& path);
TANDEM_API std::shared_ptr<ScriptModule> load_bytes(std::span<const std::uint8_t> bytes,
                                                    const std::string& name = "the archive");

// Functions of TorchScript, "def f(x, y: int = 2): ...", as the methods of a module. They may call each other, those
// above before those below, and the functions of torch. Throws tandem::Error (kInvalidArgument) with the place in
// `source`. Source: torch::jit::compile.
TANDEM_API std::shared_ptr<ScriptModule> compile(const std::string& source);

// The tensors that a traced function uses besides its inputs, by Python's names ("layers.0.weight").
struct TracedState {
  NamedTensors parameters, buffers;
};

// Runs `function` once with `inputs`, and makes what LibTorch computed into a module whose forward computes it again.
// Choices that depend on the inputs' values or sizes are made once, here. Inputs are tensors, or tuples, lists and
// dicts of them; outputs a tensor, or a tuple of tensors. Tensors of `state` are the module's own, shared with whoever
// gave them; others become constants. Calls of one thread at a time are recorded, on that thread. Throws what
// `function` throws, and tandem::Error (kInvalidArgument) for a tensor that trains but is not in `state`, and for an
// output that does not come from the inputs or the state. Source: torch.jit.trace, torch::jit::tracer::trace.
TANDEM_API std::shared_ptr<ScriptModule> trace(
    const std::function<std::vector<at::Tensor>(const std::vector<at::IValue>&)>& function,
    std::vector<at::IValue> inputs, const TracedState& state = {});

// Replaces each tensor in `value`, at any depth, by what `visit` makes of it; of lists and dicts new ones are made.
TANDEM_API void visit_tensors(at::IValue& value, const std::function<void(at::Tensor&)>& visit);

}  // namespace tandem::jit

// What DistributedDataParallel finds in the values that a ScriptModule gives.
template <>
struct tandem::internal::Nested<at::IValue> {
  static constexpr bool kTensors = true, kOnlyTensors = false, kKnown = true;
  template <typename Visit>
  static void visit(at::IValue& value, Visit& visit) {
    jit::visit_tensors(value, [&](at::Tensor& tensor) { visit(tensor); });
  }
  template <typename Visit>
  static void visit(const at::IValue& value, Visit& visit) {
    at::IValue copy = value;
    jit::visit_tensors(copy, [&](at::Tensor& tensor) { visit(std::as_const(tensor)); });
  }
};
