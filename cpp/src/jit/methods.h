// Functions as methods of a module.
#pragma once

#include <ATen/core/function_schema.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <string>

namespace tandem::jit {

// `graph`, which takes no module, becomes a method that does not use its own. `schema`, with the names and defaults of
// its arguments, may be null: then they have those of the graph. Source: addFunctionToModule() of LibTorch's bindings.
inline void add_method(const torch::jit::Module& module, const std::string& name,
                       const std::shared_ptr<torch::jit::Graph>& graph, const c10::FunctionSchema* schema) {
  const auto type = module.type();
  graph->insertInput(0, "self")->setType(type);
  auto* const method =
      module._ivalue()->compilation_unit()->create_function(c10::QualifiedName(*type->name(), name), graph);
  if (schema) {
    std::vector<c10::Argument> arguments{c10::Argument("self", type)};
    arguments.insert(arguments.end(), schema->arguments().begin(), schema->arguments().end());
    method->setSchema(schema->cloneWithArguments(std::move(arguments)));
  }
  type->addMethod(method);
}

}  // namespace tandem::jit
