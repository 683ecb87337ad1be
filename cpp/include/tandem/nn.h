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

// A torch::nn module whose forward takes and gives values.
class TANDEM_API Module {
 public:
  virtual ~Module() = default;

  const std::string& type() const { return type_; }
  // The module itself: parameters, buffers, train().
  virtual torch::nn::Module& get() const = 0;

  // Arguments and results as torch.nn has them: an LSTM takes x and the tuple (h, c), and gives y and a tuple (h, c).
  // None, or nothing at the end, stands for an optional argument that is left out. Throws tandem::Error
  // (kInvalidArgument) naming what does not fit.
  virtual std::vector<at::IValue> forward(at::ArrayRef<at::IValue> arguments) = 0;

  // A module of its own with copies of the parameters and buffers. Draws no random numbers. Throws tandem::Error
  // (kUnsupported) where that has no meaning.
  std::unique_ptr<Module> clone() const;

  // Moves parameters, buffers and gradients to `device`, where given; those of floating point take `dtype`, where
  // given. Tensors that were taken before keep following the module.
  void to(std::optional<at::Device> device, std::optional<at::ScalarType> dtype);

 protected:
  explicit Module(std::string type) : type_(std::move(type)) {}

  virtual std::unique_ptr<Module> copy() const = 0;

 private:
  std::string type_;
};

// A new module with PyTorch's default initialisation, from the default generator. Throws tandem::Error: kNotFound for
// an unknown type or option (the known ones are listed), kInvalidArgument for a missing or ill-typed option.
TANDEM_API std::unique_ptr<Module> make_module(const std::string& type, const std::vector<Option>& options);

// Names that make_module() knows, sorted.
TANDEM_API std::vector<std::string> module_types();

}  // namespace tandem::nn
