// The compiled side of a program: what AOTInductor made of it, which runs with the model's own tensors.
//
// It runs in the place of the graph where that cannot be told from the results: no gradients, no modes that change what
// operators do, inputs and tensors of the model as it was compiled for. Which of the two runs is known before the call.
#pragma once

#include <functional>
#include <memory>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <vector>

#include "exported/compiled/call_layout.h"
#include "exported/compiled/runner.h"

namespace tandem::exported {

class Compiled {
 public:
  // A parameter or buffer of a program; not defined where it has none of this name.
  using Find = std::function<at::Tensor(std::size_t program, const std::string& name)>;

  // Loads the package's code for the one of `programs` that it was compiled from; it does not tell dropout, so where it may
  // be of several, it is of the `preferred` one. Throws tandem::Error: kInvalidArgument where it is of another program, with
  // what differs; kUnsupported where it has values of parameters or buffers of its own, which training would not change;
  // what Runner::load() throws.
  // `is_known`: of a copy of a model, whose package was compared with the `preferred` program before.
  Compiled(std::shared_ptr<const Package> package, const std::vector<std::shared_ptr<const Program>>& programs,
           std::size_t preferred, bool is_known, const Find& find);
  ~Compiled();

  const std::shared_ptr<const Package>& package() const { return package_; }
  std::size_t program() const { return program_; }  // which of them

  // Whether a call runs this rather than the graph. Thread-safe, as run() is.
  bool takes_over(const Program::Call& call, const Tensors& tensors) const;
  // The user outputs. Throws Error: kLibrary where the code fails, kInvalidArgument where it gives what the program does
  // not.
  std::vector<at::IValue> run(const Program::Call& call, const Tensors& tensors) const;

 private:
  // A tensor of the model that the code reads by its address.
  struct Binding {
    std::string name;             // in the library
    const InputBinding* look_up;  // null for one that stays the same object
    bool is_buffer;
    at::Tensor tensor;
    at::Tensor compiled;  // what it was when it was compiled: dtype, shape, strides
  };

  std::string differences(const Program& program, std::size_t index, const CallLayout& layout,
                          const std::vector<std::string>& call_spec, const std::vector<Runner::Constant>& constants,
                          const std::unordered_map<std::string, at::Tensor>& values, const Find& find) const;
  void check_baked(const CallLayout& layout, std::size_t index, const Find& find) const;
  void bind(const Program& program, const std::vector<Runner::Constant>& constants,
            const std::unordered_map<std::string, at::Tensor>& values, const Find& find);
  at::Tensor present(const Binding& binding, const Tensors& tensors) const;
  bool shares_memory(const Program::Call& call, const Tensors& tensors) const;
  static void let_go(const std::vector<at::Tensor>& tensors);
  bool points_to_present(const Tensors& tensors) const;
  void point_to_present(const Tensors& tensors) const;
  std::vector<at::Tensor> inputs_of(const Program::Call& call) const;
  std::vector<at::IValue> outputs_of(std::vector<at::Tensor> given, const Symbols& symbols) const;
  [[noreturn]] void fail(const std::string& why) const;

  const std::shared_ptr<const Package> package_;
  std::unique_ptr<Runner> runner_;
  std::size_t program_ = 0;
  bool changes_in_place_ = false, changes_buffers_ = false, has_own_constants_ = false;
  CallLayout layout_;
  std::vector<Binding> bindings_;
  mutable std::counting_semaphore<> free_;  // more calls than that wait: LibTorch's own wait never ends when a call fails
  mutable std::shared_mutex pointing_;      // LibTorch changes constants under running calls
  mutable std::vector<at::Tensor> pointed_to_;
  mutable std::vector<const void*> addresses_;
};

}  // namespace tandem::exported
