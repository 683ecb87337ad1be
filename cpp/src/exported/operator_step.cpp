// Nodes that call an operator of the dispatcher.
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/version.h>

#include <algorithm>
#include <map>
#include <set>

#include "exported/graph.h"

namespace tandem::exported {
namespace {

class OperatorStep final : public Step {
 public:
  OperatorStep(c10::OperatorHandle handle, std::vector<Operand> arguments, Results results)
      : handle_(std::move(handle)), arguments_(std::move(arguments)), results_(std::move(results)) {}

  void run(Frame& frame) const override {
    torch::jit::Stack stack;
    stack.reserve(arguments_.size());
    for (const Operand& argument : arguments_) stack.push_back(argument.value(frame));
    handle_.callBoxed(&stack);
    results_.put(stack.data(), stack.size(), frame);
  }

 private:
  const c10::OperatorHandle handle_;
  const std::vector<Operand> arguments_;
  const Results results_;
};

// "torch.ops.aten.add.Tensor" → aten::add, Tensor.
std::optional<c10::OperatorName> operator_name(const std::string& target) {
  constexpr std::string_view kPrefix = "torch.ops.";
  if (!target.starts_with(kPrefix)) return std::nullopt;
  const std::string rest = target.substr(kPrefix.size());
  const auto first = rest.find('.'), last = rest.rfind('.');
  if (first == std::string::npos || first == last) return std::nullopt;
  const std::string overload = rest.substr(last + 1);
  return c10::OperatorName(rest.substr(0, first) + "::" + rest.substr(first + 1, last - first - 1),
                           overload == "default" ? "" : overload);
}

// Operators whose results depend on whether the model trains, by the argument that says so. Norms without running
// statistics take those of the batch in either mode.
void note_mode(const NodeParts& parts, const c10::FunctionSchema& schema, const std::vector<Operand>& arguments) {
  const auto& described = schema.arguments();
  const auto constant = [&](const char* name) -> const at::IValue* {
    for (std::size_t i = 0; i < described.size(); ++i) {
      if (described[i].name() == name) return arguments[i].if_constant();
    }
    return nullptr;
  };
  const at::IValue* statistics = constant("running_mean");
  const bool by_batch_alone = statistics && statistics->isNone();
  for (const char* name : {"training", "train", "use_input_stats"}) {
    const at::IValue* value = constant(name);
    if (!value || !value->isBool() || (by_batch_alone && value->toBool())) continue;
    (value->toBool() ? parts.modes.training : parts.modes.evaluation) = true;
  }
  const at::IValue* dropout = constant("dropout_p");
  if (dropout && dropout->isDouble() && dropout->toDouble() > 0) parts.modes.training = true;
  if (schema.name() == "aten::_native_batch_norm_legit_no_training") parts.modes.evaluation = true;
}

// Norms that train change their running statistics, of which their schemas say nothing. Where it is not constant whether
// they train, they may.
void note_statistics(const NodeParts& parts, const c10::FunctionSchema& schema, const std::vector<Operand>& arguments) {
  const auto place = [&](const char* name) -> const Operand* {
    const auto found = std::ranges::find(schema.arguments(), name, &c10::Argument::name);
    return found == schema.arguments().end() ? nullptr : &arguments[found - schema.arguments().begin()];
  };
  for (const char* name : {"training", "train", "use_input_stats"}) {
    const Operand* const trains = place(name);
    if (!trains) continue;
    const at::IValue* const constant = trains->if_constant();
    if (constant && constant->isBool() && !constant->toBool()) continue;
    for (const char* statistics : {"running_mean", "running_var"}) {
      if (const Operand* const changed = place(statistics)) changed->add_slots(parts.writes);
    }
  }
}

// Which tensors it changes, and whether it gives memory that it was given.
void note_memory(const NodeParts& parts, const c10::FunctionSchema& schema, const std::vector<Operand>& arguments) {
  if (schema.is_mutable()) parts.modes.in_place = true;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const c10::AliasInfo* memory = schema.arguments()[i].alias_info();
    if (memory && memory->isWrite()) arguments[i].add_slots(parts.writes);
  }
  note_statistics(parts, schema, arguments);
  const auto is_view = [](const c10::Argument& given) { return given.alias_info() != nullptr; };
  // Of those that give a view or a copy the schema says nothing.
  static const std::set<std::string> kMayBeViews = {"aten::reshape", "aten::contiguous", "aten::to", "aten::flatten",
                                                    "aten::reshape_as", "aten::type_as", "aten::dropout",
                                                    "aten::feature_dropout", "aten::alpha_dropout", "aten::meshgrid",
                                                    "aten::atleast_1d", "aten::atleast_2d", "aten::atleast_3d",
                                                    "aten::resolve_conj", "aten::resolve_neg", "aten::where",
                                                    "aten::einsum", "aten::unflatten", "aten::broadcast_tensors",
                                                    "aten::pad", "aten::cat", "aten::moveaxis", "aten::movedim"};
  parts.gives_views = std::ranges::any_of(schema.returns(), is_view) || kMayBeViews.contains(schema.name());
}

// What reaches beyond a tensor's own memory, or to files: no export has a use for it.
bool is_refused(const std::string& name) {
  return name == "aten::from_file" || name == "aten::_reshape_alias" || name == "aten::_reshape_alias_copy";
}

}  // namespace

std::unique_ptr<Step> make_operator_step(const NodeParts& parts, const Json& outputs) {
  const auto name = operator_name(parts.target);
  if (!name) return nullptr;
  if (is_refused(name->name)) unsupported(parts.where, "reads files or memory without a check, and is not run");
  const auto handle = c10::Dispatcher::singleton().findSchema(*name);
  if (!handle) {
    unsupported(parts.where, "calls an operator that LibTorch " TORCH_VERSION
                             " does not have; where it is a custom one, load the library that registers it first");
  }
  const c10::FunctionSchema& schema = handle->schema();
  std::map<std::string, const Json*> given;
  for (const Json& input : parts.inputs) {
    const std::string& argument = text(input, "name", parts.where);
    if (!given.emplace(argument, &member(input, "arg", parts.where)).second) {
      damaged(parts.where, "has the argument '" + argument + "' twice");
    }
  }
  std::vector<Operand> arguments;
  for (const c10::Argument& argument : schema.arguments()) {
    const auto found = given.find(argument.name());
    if (found != given.end()) {
      arguments.push_back(parts.operand(*found->second, argument.type()));
      given.erase(found);
    } else if (argument.default_value()) {
      arguments.push_back(Operand::constant(*argument.default_value()));
    } else {
      damaged(parts.where, "lacks the argument '" + argument.name() + "'");
    }
  }
  if (!given.empty()) {
    unsupported(parts.where, "has the argument '" + given.begin()->first + "', which the operator of LibTorch " TORCH_VERSION
                             " does not know");
  }
  note_mode(parts, schema, arguments);
  note_memory(parts, schema, arguments);
  Results results = Results::parse(outputs, parts.names, parts.where);
  if (results.size() != 0 && results.size() != schema.returns().size()) {
    damaged(parts.where, "gives " + std::to_string(results.size()) + " values, and the operator gives " +
                             std::to_string(schema.returns().size()));
  }
  results.add_slots(parts.reads);
  return std::make_unique<OperatorStep>(*handle, std::move(arguments), std::move(results));
}

}  // namespace tandem::exported
