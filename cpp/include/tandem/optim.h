// Optimizers by name, with LibTorch's fused kernels where parameters allow them and state that can be saved.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/export.h"
#include "tandem/option.h"

namespace tandem::optim {

// Updates parameters from their gradients as the torch.optim class of the same name does. Holds the parameters; a
// parameter without a gradient is skipped. Not thread-safe.
class TANDEM_API Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual const char* type() const = 0;

  // Applies the gradients. Throws tandem::Error (kUnsupported) for a sparse gradient where the rule has no sparse
  // form.
  virtual void step() = 0;

  // Drops the gradients when set_to_none, else zeroes them in place. A reducer puts those that are views of its buckets
  // there again with the next backward.
  void zero_grad(bool set_to_none = true);

  // Names are those of LibTorch's options; "betas" is a list of two, "beta1" and "beta2" are its elements; booleans
  // read as 0 and 1. Throws tandem::Error: kNotFound (the known names are listed), kInvalidArgument (a value that
  // makes no sense).
  virtual void set_option(const Option& option) = 0;
  virtual double get_option(const std::string& name) const = 0;

  // "INDEX.NAME", as in "0.momentum_buffer" or "3.step": what a parameter (by its place) has so far, sharing storage.
  virtual std::vector<std::pair<std::string, at::Tensor>> state() const = 0;
  // Replaces the state by copies. All or nothing. Throws tandem::Error for an unknown name or a wrong shape.
  virtual void load_state(const std::vector<std::pair<std::string, at::Tensor>>& state) = 0;

  const std::vector<at::Tensor>& parameters() const { return parameters_; }

 protected:
  explicit Optimizer(std::vector<at::Tensor> parameters) : parameters_(std::move(parameters)) {}

 private:
  std::vector<at::Tensor> parameters_;
};

// "SGD", "Adam", "AdamW", "Adagrad" or "RMSprop". Throws tandem::Error: kNotFound for an unknown type or option,
// kInvalidArgument for a bad value, or for parameters that are no leaves, are given twice or are of no
// floating-point or complex dtype.
TANDEM_API std::unique_ptr<Optimizer> make_optimizer(const std::string& type, std::vector<at::Tensor> parameters,
                                                     const std::vector<Option>& options);

}  // namespace tandem::optim
