// A part of an exported program: what runs on one stage of a pipeline.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "exported/model.h"
#include "tandem/nn.h"

namespace tandem::exported {

// Nodes in a row of a program's graph. Takes what crosses the cut before it, the first one the program's own inputs; gives
// what crosses the cut after it, the last one the program's outputs. All of it tensors: numbers are tensors without
// dimensions on the way. Has the parameters and buffers that its nodes read.
class Part final : public nn::Module {
 public:
  // Parts of a model, in order, of at least `least` where the graph has as many: cut where the fewest values cross.
  // Throws tandem::Error (kUnsupported) for programs that change their inputs, or take or give what is no tensor.
  static std::vector<std::unique_ptr<nn::Module>> divide(std::shared_ptr<const Model> model, std::size_t least);

  Part(std::shared_ptr<const Model> model, Graph::Cut begin, Graph::Cut end);

  std::vector<at::IValue> forward(at::ArrayRef<at::IValue> arguments) override;
  torch::nn::Module& get() const override { return *root_; }

 protected:
  std::unique_ptr<nn::Module> copy() const override;

 private:
  const std::shared_ptr<const Model> model_;
  const Program::Span span_;
  std::shared_ptr<ScopeTree> root_;
};

}  // namespace tandem::exported
