// The tensors of an exported model, under the names that its modules had in Python.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exported/compiled/compiled.h"
#include "exported/program.h"

namespace tandem::exported {

// A module of the tree; its parameters, buffers and children have names without dots.
class Scope : public torch::nn::Module {
 public:
  explicit Scope(const std::string& name) : torch::nn::Module(name) {}
};

// The root of such a tree: a tensor's name says in which modules it lies.
class ScopeTree : public Scope {
 public:
  // `archive`: what errors name.
  ScopeTree() : Scope("") {}
  void add_to_tree(const std::string& name, const at::Tensor& tensor, bool is_parameter, const std::string& archive);

 private:
  std::unordered_map<std::string, torch::nn::Module*> scopes_;  // by "a.b."
};

class Model : public ScopeTree, public Tensors {
 public:
  // With the state of the first one's archive; the others must have the same names, shapes and dtypes. Constants are
  // each archive's own. Throws tandem::Error.
  explicit Model(std::vector<std::shared_ptr<const Program>> programs);
  // Lets calls run the code that a package has for one of the programs, for `program` where that is known. Throws what
  // Compiled does.
  void add_compiled(std::shared_ptr<const Package> package, std::optional<std::size_t> program = std::nullopt);
  // A copy, with tensors of its own.
  Model(const Model& other);

  void train(bool on = true) override;

  const Program& program() const { return *programs_[present_]; }
  const std::shared_ptr<const Program>& shared_program() const { return programs_[present_]; }
  at::IValue call(at::ArrayRef<at::IValue> arguments) const;
  at::Tensor at(const InputBinding& binding) const override;
  // Of what lies between two cuts of its program, which has one mode, the parameters and buffers; those that no node reads are
  // the first part's.
  struct State {
    std::string name;
    at::Tensor tensor;
    bool is_parameter;
  };
  std::vector<State> state_of_part(const Program::Span& span) const;
  bool has_one_mode() const { return programs_.size() == 1; }
  // Whether its floating-point tensors have another dtype than in the archive.
  bool has_other_dtype() const;
  at::ScalarType exported_dtype() const { return exported_dtype_; }
  at::Device exported_device() const { return exported_device_; }
  const std::vector<std::pair<std::string, std::string>>& tied() const { return tied_; }
  void save(const std::string& path) const;

 private:
  void add_state(const Program& program);
  void check_state(const Program& other) const;
  void add_constants(const Program& program);
  void register_tensor(const std::string& name, const at::Tensor& tensor, bool is_parameter, bool requires_grad);
  void assign_modes();
  at::Device present_device() const;
  at::Tensor constant(const std::string& name) const;

  std::vector<std::shared_ptr<const Program>> programs_;
  std::size_t present_ = 0, training_ = 0;  // of two
  std::unique_ptr<const Compiled> compiled_;
  std::vector<std::pair<std::string, bool>> registered_;  // names, and whether they are parameters, in order
  std::map<std::string, at::Tensor> state_;  // parameters and persistent buffers, under all of their names
  std::vector<std::pair<std::string, std::string>> tied_;  // names that the tree does not have, and those it does
  std::map<std::pair<const void*, bool>, std::string> first_names_;  // of each tensor, as a parameter or a buffer
  mutable std::vector<std::map<std::string, at::Tensor>> constants_;  // of each program, and buffers that are not persistent
  at::Device exported_device_{at::kCPU};
  std::string real_;  // the name of a floating-point tensor of the state, "" for none
  at::ScalarType exported_dtype_ = at::kFloat;
  mutable std::mutex moving_;  // constants
};

// A tensor that no module has, on the device of those that it is used with.
at::Tensor moved_constant(const at::Tensor& constant, at::Device device);

}  // namespace tandem::exported
