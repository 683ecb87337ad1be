// A part of an exported program: what runs on one stage of a pipeline.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "exported/model.h"
#include "tandem/nn.h"

namespace tandem::exported {

// Nodes in a row of a program's graph. Takes what crosses the cut before it, the first one the program's own inputs; gives
// what crosses the cut after it, the last one the program's outputs. All of it tensors: numbers are tensors without
// dimensions on the way. Has the parameters and buffers that its nodes read, shared with the model that it is of, and holds no
// other: a rank that drops the model and other ranks' parts has no memory for them.
class Part final : public nn::Module {
 public:
  // Parts of a model, in order, of at least `least` where the graph has as many: cut where the fewest values cross.
  // Throws tandem::Error (kUnsupported) for programs that change their inputs, or take or give what is no tensor.
  static std::vector<std::unique_ptr<nn::Module>> divide(const Model& model, std::size_t least);

  Part(const Model& model, Graph::Cut begin, Graph::Cut end);

  std::vector<at::IValue> forward(at::ArrayRef<at::IValue> arguments) override;
  torch::nn::Module& get() const override { return *root_; }

 protected:
  std::unique_ptr<nn::Module> copy() const override;

 private:
  // What its nodes read, by the names of the program's inputs.
  class Read final : public Tensors {
   public:
    Read(const Model& model, const Program::Span& span);
    at::Tensor at(const InputBinding& binding) const override;
    at::Device device(at::ArrayRef<at::IValue> given) const;
    bool has_other_dtype() const;

   private:
    std::map<std::string, at::Tensor> state_;
    at::Tensor real_;  // one of them; undefined: none is of floating-point numbers
    const at::ScalarType exported_dtype_;
    const bool model_has_other_dtype_;
    mutable std::mutex moving_;  // constants
    mutable std::map<std::string, at::Tensor> constants_;
  };

  const std::shared_ptr<const Program> program_;
  const Program::Span span_;
  const at::Device exported_device_;
  const Read read_;
  const std::shared_ptr<ScopeTree> root_;
};

}  // namespace tandem::exported
