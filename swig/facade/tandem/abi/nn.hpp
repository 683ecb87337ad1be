// Modules from the registry.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "tandem/abi/value.hpp"

namespace tandem::abi {

// A torch::nn module by name and options; see module_types() for the names.
class Module {
 public:
  explicit Module(const std::string& type, const Options& options = {}) {
    const auto raw = options.raw();
    check(tdm_module_create(type.c_str(), raw.data(), raw.size(), handle_.out()));
  }

  // Takes a handle over.
  static Module owned(tdm_module* handle) { return Module(handle); }
  tdm_module* raw() const { return handle_.get(); }

  // With copies of the parameters and buffers.
  Module clone() const {
    tdm_module* copied = nullptr;
    check(tdm_module_clone(handle_.get(), &copied));
    return Module(copied);
  }

  Results forward(const Arguments& arguments, size_t room = 8) {
    Results results(room);
    size_t count = room;
    check(tdm_module_forward(handle_.get(), arguments.data(), arguments.size(), results.data(), &count));
    results.shrink(count);
    return results;
  }
  // All tensors of what it gives, in order: of an LSTM's (y, (h, c)) three.
  // Parts of a program give more than modules do.
  std::vector<Tensor> forward_tensors(const Arguments& arguments) { return forward(arguments, 64).take_tensors(); }
  // Of a module that takes one tensor and gives one.
  Tensor forward_tensor(const Tensor& input) { return forward(Arguments::of(input)).take_tensor(0); }

  NamedTensors named_parameters() const {
    tdm_named_tensors* list = nullptr;
    check(tdm_module_named_parameters(handle_.get(), &list));
    return NamedTensors(list);
  }
  NamedTensors named_buffers() const {
    tdm_named_tensors* list = nullptr;
    check(tdm_module_named_buffers(handle_.get(), &list));
    return NamedTensors(list);
  }
  // Has a parameter be computed, by "weight_norm" or "spectral_norm", from others that take its place.
  void parametrize(const std::string& kind, const std::string& name, const Options& options = {}) {
    const auto raw = options.raw();
    check(tdm_module_parametrize(handle_.get(), kind.c_str(), name.c_str(), raw.data(), raw.size()));
  }
  void remove_parametrizations(const std::string& name) {
    check(tdm_module_remove_parametrizations(handle_.get(), name.c_str()));
  }
  // The tokens that a network adds to input_ids [batch, length]; options are those of tdm_module_generate().
  Tensor generate(const Tensor& input_ids, const Options& options = {}) {
    const auto raw = options.raw();
    tdm_tensor* made = nullptr;
    check(tdm_module_generate(handle_.get(), input_ids.raw(), raw.data(), raw.size(), &made));
    return Tensor(made);
  }
  bool is_training() const { return tdm_module_is_training(raw()) != 0; }
  void train(bool on = true) { check(tdm_module_train(handle_.get(), on)); }
  // Of a BatchNorm: how much its running statistics take of each batch; NaN: they are means over all batches. Gives
  // what it was.
  double set_batch_norm_momentum(double momentum) {
    Arguments given;
    if (std::isnan(momentum)) {
      given.add_none();
    } else {
      given.add_double(momentum);
    }
    Results before(1);
    check(tdm_module_set_batch_norm_momentum(handle_.get(), given.data(), before.data()));
    return before.tag(0) == TDM_VALUE_NONE ? std::nan("") : before.real(0);
  }
  // Moves parameters and buffers; handles taken before follow. dtype -1: unchanged.
  void to(const Device& device, int32_t dtype = -1) { check(tdm_module_to(handle_.get(), device.raw(), dtype)); }

 private:
  explicit Module(tdm_module* handle) : handle_(handle) {}

  Handle<tdm_module, tdm_module_free> handle_;
};

// Names of the registered types.
inline std::vector<std::string> module_types() {
  tdm_strings* types = nullptr;
  check(tdm_module_types(&types));
  return take_strings(types);
}

}  // namespace tandem::abi
