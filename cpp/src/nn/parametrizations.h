// How a module keeps the parametrizations of its parameters.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tandem/nn.h"

namespace tandem::nn {

// One parametrization. It is a module of the module's, so that originals and buffers have Python's names, move and are
// saved.
class Parametrization : public torch::nn::Module {
 public:
  // What forward() reads; recorded for autograd.
  virtual at::Tensor compute() = 0;
  // A tensor of the parameter's kind and sizes.
  virtual const at::Tensor& like() const = 0;
  // Of the same settings, with copies of all tensors.
  virtual std::shared_ptr<Parametrization> copy() const = 0;
};

// Those of one module. Forwards hold its lock, since they read what is computed from one place.
class Parametrizations {
 public:
  // The parameter that is to be computed. Throws tandem::Error as tandem/nn_parametrizations.h says.
  static at::Tensor parameter(Module& module, const std::string& name);
  static void add(Module& module, const std::string& name, std::shared_ptr<Parametrization> by);
  // Null where there is none.
  static std::shared_ptr<Parametrization> find(const Module& module, const std::string& name);
  // The parameter is `value` from now on.
  static void remove(Module& module, const std::string& name, const at::Tensor& value);
  static std::unique_ptr<Module> copy(const Module& module);
  // While it lives computed values are in their places.
  static std::shared_ptr<void> computed(const Module& module);

 private:
  struct One {
    std::string name;
    at::Tensor* place;
    std::shared_ptr<Parametrization> by;
  };
  class Computed;
  class Plain;

  static void attach(Module& module, const One& one);
  static void detach(Module& module, const One& one, const at::Tensor& value);

  std::vector<One> all_;
  std::mutex forwarding_;
};

}  // namespace tandem::nn
