// Modules and optimizers from the registry.
#pragma once

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

  // With copies of the parameters and buffers.
  Module clone() const {
    tdm_module* copied = nullptr;
    check(tdm_module_clone(handle_.get(), &copied));
    return Module(copied);
  }

  Results forward(const Arguments& arguments) {
    constexpr size_t kRoom = 8;
    Results results(kRoom);
    size_t count = kRoom;
    check(tdm_module_forward(handle_.get(), arguments.data(), arguments.size(), results.data(), &count));
    results.shrink(count);
    return results;
  }
  // All tensors of what it gives, in order: of an LSTM's (y, (h, c)) three.
  std::vector<Tensor> forward_tensors(const Arguments& arguments) { return forward(arguments).take_tensors(); }
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
  void train(bool on = true) { check(tdm_module_train(handle_.get(), on)); }
  // Moves parameters and buffers; handles taken before follow. dtype -1: unchanged.
  void to(const Device& device, int32_t dtype = -1) { check(tdm_module_to(handle_.get(), device.raw(), dtype)); }

 private:
  explicit Module(tdm_module* owned) : handle_(owned) {}

  Handle<tdm_module, tdm_module_free> handle_;
};

// Names of the registered types.
inline std::vector<std::string> module_types() {
  tdm_strings* types = nullptr;
  check(tdm_module_types(&types));
  return take_strings(types);
}

// "SGD", "Adam", "AdamW", "Adagrad", "RMSprop" with LibTorch's option names.
class Optimizer {
 public:
  Optimizer(const std::string& type, const TensorList& parameters, const Options& options = {}) {
    const auto raw = options.raw();
    check(tdm_optimizer_create(type.c_str(), parameters.data(), parameters.size(), raw.data(), raw.size(),
                               handle_.out()));
  }

  void step() { check(tdm_optimizer_step(handle_.get())); }
  void zero_grad(bool set_to_none = true) { check(tdm_optimizer_zero_grad(handle_.get(), set_to_none)); }
  // One more group of parameters, with settings of its own: what `options` leaves out is as the optimizer was made.
  void add_group(const TensorList& parameters, const Options& options = {}) {
    const auto raw = options.raw();
    check(tdm_optimizer_add_group(handle_.get(), parameters.data(), parameters.size(), raw.data(), raw.size()));
  }
  int64_t group_count() const {
    int64_t count = 0;
    check(tdm_optimizer_group_count(handle_.get(), &count));
    return count;
  }
  // One after the other, of a group or of TDM_ALL_GROUPS.
  void set_options(int64_t group, const Options& options) {
    for (const tdm_option& option : options.raw()) check(tdm_optimizer_set_option(handle_.get(), group, &option));
  }
  // One result: a number, a flag or, of "betas", numbers.
  Results option(int64_t group, const std::string& name) const {
    Results found(1);
    check(tdm_optimizer_get_option(handle_.get(), group, name.c_str(), found.data()));
    return found;
  }
  // Shares storage with the optimizer.
  NamedTensors state() const {
    tdm_named_tensors* list = nullptr;
    check(tdm_optimizer_state(handle_.get(), &list));
    return NamedTensors(list);
  }
  void load_state(const std::vector<std::string>& names, const TensorList& tensors) {
    if (names.size() != tensors.size()) {
      throw Error(TDM_ERROR_INVALID_ARGUMENT, "Optimizer::load_state", "give one name for each tensor");
    }
    const auto pointers = c_strings(names);
    check(tdm_optimizer_load_state(handle_.get(), pointers.data(), tensors.data(), tensors.size()));
  }
  // One result, a dict: the state as Python's optimizer.state_dict() is. It shares storage with the optimizer.
  Results state_dict() const {
    Results dict(1);
    check(tdm_optimizer_state_dict(handle_.get(), dict.data()));
    return dict;
  }
  // Of one such value.
  void load_state_dict(const Arguments& dict) { check(tdm_optimizer_load_state_dict(handle_.get(), one(dict))); }

 private:
  Handle<tdm_optimizer, tdm_optimizer_free> handle_;
};

}  // namespace tandem::abi
