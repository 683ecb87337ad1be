// Modules of torch::nn by name and named options, for front ends that do not know their C++ types.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/export.h"
#include "tandem/option.h"

namespace tandem::nn {

class Parametrizations;

// A torch::nn module whose forward takes and gives values.
class TANDEM_API Module {
 public:
  virtual ~Module() = default;

  const std::string& type() const { return type_; }
  // The module itself: parameters, buffers, train().
  virtual torch::nn::Module& get() const = 0;

  // Arguments and results as torch.nn has them: an LSTM takes x and the tuple (h, c), and gives y and a tuple (h, c).
  // None, or nothing at the end, stands for an optional argument that is left out. RNN, LSTM and GRU take and give a
  // packed sequence, a tuple of data, batch_sizes, sorted_indices and unsorted_indices, in the place of x and y. Throws
  // tandem::Error (kInvalidArgument) naming what does not fit.
  virtual std::vector<at::IValue> forward(at::ArrayRef<at::IValue> arguments) = 0;

  // Further names of tied parameters and buffers, each with the one that get() has: a state dict of Python has all.
  virtual std::vector<std::pair<std::string, std::string>> tied() const { return {}; }

  // A module of its own with copies of the parameters and buffers. Draws no random numbers. Throws tandem::Error
  // (kUnsupported) where that has no meaning.
  std::unique_ptr<Module> clone() const;

  // Moves parameters, buffers and gradients to `device`, where given; those of floating point take `dtype`, where
  // given. Tensors that were taken before keep following the module.
  void to(std::optional<at::Device> device, std::optional<at::ScalarType> dtype);

 protected:
  explicit Module(std::string type) : type_(std::move(type)) {}

  virtual std::unique_ptr<Module> copy() const = 0;
  // Where forward() reads the parameter of this name; null where nobody may put another tensor.
  virtual at::Tensor* member(const std::string& name) { return (void)name, nullptr; }
  // For forward(): puts computed parameters in their places, until the result goes. Null where there are none.
  std::shared_ptr<void> computed() const;

 private:
  friend class Parametrizations;

  std::string type_;
  std::shared_ptr<Parametrizations> parametrizations_;  // see tandem/nn_parametrizations.h; once made it stays
};

// A new module with PyTorch's default initialisation, from the default generator. Throws tandem::Error: kNotFound for
// an unknown type or option (the known ones are listed), kInvalidArgument for a missing or ill-typed option.
TANDEM_API std::unique_ptr<Module> make_module(const std::string& type, const std::vector<Option>& options);

// The same with parameters and buffers on the device "meta", which have names, sizes and dtypes, but no memory; draws no
// random numbers. Buffers that count may be on the CPU all the same.
TANDEM_API std::unique_ptr<Module> make_meta_module(const std::string& type, const std::vector<Option>& options);

// Names that make_module() knows, sorted: classes of torch.nn, and networks ("resnet18", "gpt2").
TANDEM_API std::vector<std::string> module_types();

// What a forward takes or gives.
struct ValueDescription {
  std::string type;                     // "tensor", "bool", "int[]" or "tuple"
  std::vector<ValueDescription> parts;  // of a tuple
};
struct ArgumentDescription {
  std::string name;
  ValueDescription value;
  bool required;
};

struct ModuleDescription {
  std::string type;
  std::vector<OptionDescription> options;  // in the order in which its factory reads them
  std::vector<ArgumentDescription> arguments;
  std::vector<ValueDescription> results;
  // Names of all that one has which is made with default options, or with one of its flags the other way.
  std::vector<std::string> parameters, buffers;
};

// What a module takes, gives and has, as its own factory says it. Makes some to see their tensors; draws no random
// numbers. Throws tandem::Error (kNotFound) for an unknown type.
TANDEM_API ModuleDescription describe_module(const std::string& type);

}  // namespace tandem::nn
