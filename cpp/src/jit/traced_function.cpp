#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/tracer.h>

#include <map>

#include "jit/errors.h"
#include "tandem/error.h"
#include "tandem/jit.h"

namespace tandem::jit {
namespace {

// Modules by dotted names, below one.
class Tree {
 public:
  Tree()
      : unit_(std::make_shared<torch::jit::CompilationUnit>()),
        root_(c10::QualifiedName("__torch__.Traced"), unit_, /*shouldMangle=*/true) {
    root_.register_attribute("training", c10::BoolType::get(), true);
  }

  void add(const std::string& name, const at::Tensor& tensor, bool is_buffer) {
    const auto dot = name.rfind('.');
    torch::jit::Module& owner = dot == std::string::npos ? root_ : module(name.substr(0, dot));
    const std::string last = dot == std::string::npos ? name : name.substr(dot + 1);
    if (last.empty() || !tensor.defined() || owner.hasattr(last)) {
      throw Error(ErrorCode::kInvalidArgument, "'" + name + "' cannot be a tensor of the traced module: " +
                                                   (last.empty()       ? "it has no name"
                                                    : tensor.defined() ? "there are two of that name"
                                                                       : "it is undefined"));
    }
    owner.register_parameter(last, tensor, is_buffer);
  }

  torch::jit::Module& root() { return root_; }

 private:
  torch::jit::Module& module(const std::string& name) {
    const auto [place, is_new] = modules_.try_emplace(name);
    if (is_new) {
      const auto dot = name.rfind('.');
      torch::jit::Module& owner = dot == std::string::npos ? root_ : module(name.substr(0, dot));
      const std::string last = dot == std::string::npos ? name : name.substr(dot + 1);
      if (last.empty() || owner.hasattr(last)) {
        throw Error(ErrorCode::kInvalidArgument, "'" + name + "' cannot be the name of a module of the traced module");
      }
      place->second = torch::jit::Module(c10::QualifiedName("__torch__.Part"), unit_, /*shouldMangle=*/true);
      place->second.register_attribute("training", c10::BoolType::get(), true);
      owner.register_module(last, place->second);
    }
    return place->second;
  }

  std::shared_ptr<torch::jit::CompilationUnit> unit_;
  torch::jit::Module root_;
  std::map<std::string, torch::jit::Module> modules_;
};

// LibTorch would trace an output that it has not seen as a constant.
void require_traced(const std::vector<at::Tensor>& outputs) {
  if (outputs.empty()) throw Error(ErrorCode::kInvalidArgument, "a traced function gives a tensor at least");
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& state = torch::jit::tracer::getTracingState();
    if (outputs[i].defined() && state && state->hasValue(outputs[i])) continue;
    throw Error(
        ErrorCode::kInvalidArgument,
        "output " + std::to_string(i) +
            " of the traced function was not computed from its inputs or the module's tensors by operators that "
            "can be traced, or is one that was traced by no operator");
  }
}

std::vector<std::string> names_of_inputs(std::size_t count) {
  if (count == 1) return {"input"};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back("input" + std::to_string(i));
  return names;
}

torch::jit::Stack results_of(const std::vector<at::Tensor>& outputs) {
  if (outputs.size() == 1) return {outputs[0]};
  return {c10::ivalue::Tuple::create(std::vector<at::IValue>(outputs.begin(), outputs.end()))};
}

}  // namespace

std::shared_ptr<ScriptModule> trace(
    const std::function<std::vector<at::Tensor>(const std::vector<at::IValue>&)>& function,
    std::vector<at::IValue> inputs, const TracedState& state) {
  if (torch::jit::tracer::isTracing()) {
    throw Error(ErrorCode::kInvalidArgument, "this thread is tracing already; a trace cannot begin within another");
  }
  Tree tree;
  for (const auto& [name, tensor] : state.parameters) tree.add(name, tensor, false);
  for (const auto& [name, tensor] : state.buffers) tree.add(name, tensor, true);
  // LibTorch knows tensors by their identity, and puts what it traces into those that come in.
  for (at::IValue& input : inputs) visit_tensors(input, [](at::Tensor&) {});
  const std::vector<std::string> names = names_of_inputs(inputs.size());
  try {
    const auto traced = torch::jit::tracer::trace(
        std::move(inputs),
        [&](const torch::jit::Stack& stack) {
          const std::vector<at::Tensor> outputs = function(stack);
          require_traced(outputs);
          return results_of(outputs);
        },
        [](const at::Tensor&) { return std::string(); }, /*strict=*/false, /*force_outplace=*/false, &tree.root(),
        names);
    const auto type = tree.root().type();
    auto* const method = tree.root()._ivalue()->compilation_unit()->create_function(
        c10::QualifiedName(*type->name(), "forward"), traced.first->graph);
    type->addMethod(method);
    return std::make_shared<ScriptModule>(tree.root());
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    const std::string reason = reason_of_current();
    const bool trains = reason.find("Cannot insert a Tensor that requires grad as a constant") != std::string::npos;
    throw Error(ErrorCode::kInvalidArgument,
                trains ? "the function uses a tensor that requires a gradient and is neither an input nor among the "
                         "parameters that were given; give it, or detach it"
                       : reason);
  }
}

}  // namespace tandem::jit
