// Models that Python exported with torch.export: run and trained without Python.
//
//   ep = torch.export.export(model.train(), (example,), dynamic_shapes={"x": {0: torch.export.Dim("batch")}})
//   torch.export.save(ep, "model.pt2")
//
// An archive holds the model's parameters, buffers and constants, and a graph of calls of ATen's operators. The graph
// runs through LibTorch's dispatcher, so autograd, and with it DistributedDataParallel, optimizers and checkpoints, take
// the model for any other module. Source: torch.export (PyTorch 2.8 and later; schema version 8).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/export.h"
#include "tandem/nn.h"

namespace tandem {

namespace exported {
class Program;
}

struct ExportedProgramOptions {
  // Another archive of the same model, exported after model.eval() where the first was in training mode, or the other
  // way round: train() changes between the two, which share the tensors of the first.
  std::string other_mode = {};
  // A package that AOTInductor compiled from the program, or from that of the other mode, for inference on the CPU. Where it
  // cannot be told from which (dropout leaves no trace), it is that of evaluation:
  //   torch._inductor.aoti_compile_and_package(ep, package_path="compiled.pt2",
  //       inductor_configs={"always_keep_tensor_constants": True, "joint_graph_constant_folding": False,
  //                         "cpp.dynamic_threads": True, "aot_inductor.metadata": {"weights": "shared"}})
  // Without these settings AOTInductor writes values of weights into the code; the last one says that they were given. Its
  // machine code is run: load it only from whom you trust.
  std::string compiled = {};
};

// Which values of `training` its graph has in dropout, batch norm and the like; kNone where it has none of these.
enum class ExportedMode { kNone, kTraining, kEvaluation, kMixed };

// A user input or output, as torch.export lists them.
struct ExportedInput {
  std::string name;  // of the argument, or of its part: "x", "d_a" for d["a"]
  // "float[s77, 1, 28, 28]" with the symbols of dynamic sizes, "int", or the constant that it has to be
  std::string description;
};

// What torch.export.save wrote, as a module: parameters and buffers have the names that they had in Python, a tied one
// the first of its names. Buffers that are not persistent, and constants, are no part of its state.
//
// forward() takes what the Python module's forward took: tensors, numbers, tuples, lists and dicts, with keyword
// arguments behind the positional ones in the order of the program. It gives each element of a tuple, or the one
// result. Inputs of other structure, shape, dtype or outside of the ranges of dynamic sizes are errors that name them.
//
// With a compiled package calls run its code where that gives what the graph does: grad mode is off, or nothing that the
// program reads requires grad; the program is in the mode that was compiled; neither autocast nor tracing is on; and the
// module's tensors and the inputs are on the CPU, with the dtypes, and the module's with the shapes and strides, that they
// were compiled with. Inputs of other strides are copied first; where the program changes tensors in place, or an input has
// no elements, the graph runs instead. All other calls run the graph. The code reads the module's own tensors, so that
// training and loading weights change it too. A failure of it is an error, never another try by the graph.
//
// Calls from several threads may run at once while nobody trains the module, moves it or loads its state; compiled ones as
// many as there are processors (64 at most), and more wait for one to end.
class TANDEM_API ExportedProgram final : public nn::Module {
 public:
  // Weights are mapped from the file, copy-on-write. Throws tandem::Error: kNotFound, kIo; kDataLoss where the archive
  // is damaged or contradicts itself, kUnsupported where it wants what is not there: an operator that this LibTorch
  // lacks, TorchBind objects, containers other than tuples, lists, dicts and named tuples; the node or name is told. A
  // compiled package: kInvalidArgument where it is of another program, kUnsupported where it is for another device or
  // processor, has no library, or has small parameters' values in its code; kLibrary where it does not load.
  static std::unique_ptr<ExportedProgram> load(const std::string& path, const ExportedProgramOptions& options = {});
  ~ExportedProgram() override;

  // Throws Error (kInvalidArgument): inputs that do not fit, and what an operator refuses, with the node's name; kLibrary
  // where compiled code fails.
  std::vector<at::IValue> forward(at::ArrayRef<at::IValue> arguments) override;
  // The same, with the result as the Python module gave it.
  at::IValue call(at::ArrayRef<at::IValue> arguments) const;
  // Its train() throws Error (kUnsupported) for a mode that the archive was not exported in, as Python does.
  torch::nn::Module& get() const override;

  ExportedMode mode() const;
  // In the order of forward()'s arguments, nested ones flattened.
  std::vector<ExportedInput> inputs() const;

  // The program in parts that run one after the other, as layers of a pipeline do (tandem/pipeline_split.h): at least
  // `least`, or as many as there are. It is cut where the fewest values cross; each part takes what the one before gives,
  // and has the parameters and buffers that it reads, which they share with the program, under their names. A part holds no
  // others: those that no part reads any more are freed with the program. What comes between two parts is tensors, sizes too. Throws Error (kUnsupported) for programs of two modes, and for those that
  // change their inputs.
  std::vector<std::unique_ptr<nn::Module>> parts(std::size_t least) const;

  std::vector<std::pair<std::string, std::string>> tied() const override;

  // Writes an archive with the present tensors, that torch.export.load opens; `path` has the old content or the new.
  // Of a program of two modes: the graph of the present one. Throws tandem::Error: kIo, kNotFound (its folder),
  // kUnsupported after to() with another dtype, which the graph does not know.
  void save(const std::string& path) const;

 protected:
  std::unique_ptr<nn::Module> copy() const override;

 private:
  class Root;
  ExportedProgram();

  std::shared_ptr<Root> root_;
};

}  // namespace tandem
