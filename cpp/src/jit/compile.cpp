#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/resolver.h>

#include "jit/deep_stack.h"
#include "jit/errors.h"
#include "jit/methods.h"
#include "jit/source_depth.h"
#include "tandem/error.h"
#include "tandem/jit.h"

namespace tandem::jit {
namespace {

// Names of Python's that the text may use besides those of TorchScript and `torch`.
struct Names : torch::jit::NativeResolver {
  std::shared_ptr<torch::jit::SugaredValue> resolveValue(const std::string& name, torch::jit::GraphFunction& function,
                                                         const torch::jit::SourceRange& place) override {
    for (const char* const exception : {"Exception", "RuntimeError", "ValueError", "TypeError", "IndexError",
                                        "KeyError", "AssertionError", "NotImplementedError"}) {
      if (name == exception) return std::make_shared<torch::jit::ExceptionValue>(name);
    }
    return NativeResolver::resolveValue(name, function, place);
  }
};

torch::jit::Module compile_functions(const std::string& source) {
  const auto unit = std::make_shared<torch::jit::CompilationUnit>();
  unit->define(c10::QualifiedName("__torch__"), source, std::make_shared<Names>(), nullptr);
  torch::jit::Module module(c10::QualifiedName("__torch__.Functions"), unit);
  for (torch::jit::Function* const function : unit->get_functions()) {
    const auto& graph = torch::jit::toGraphFunction(*function).graph();
    add_method(module, function->name(), graph->copy(), &function->getSchema());
  }
  return module;
}

}  // namespace

std::shared_ptr<ScriptModule> compile(const std::string& source) {
  if (require_shallow(source, "the source") > kMostDefinitions) {
    throw Error(ErrorCode::kUnsupported, "the source has more than " + std::to_string(kMostDefinitions) + " functions");
  }
  std::shared_ptr<ScriptModule> module;
  run_on_deep_stack([&] {
    try {
      module = std::make_shared<ScriptModule>(compile_functions(source));
    } catch (const std::bad_alloc&) {
      throw;
    } catch (...) {
      throw Error(ErrorCode::kInvalidArgument, "the source does not compile: " + reason_of_current());
    }
  });
  if (module->methods().empty()) throw Error(ErrorCode::kInvalidArgument, "the source has no function");
  return module;
}

}  // namespace tandem::jit
