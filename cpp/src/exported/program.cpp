#include "exported/program.h"

#include <algorithm>

namespace tandem::exported {
namespace {

constexpr std::int64_t kSchema = 8;

// Which of the archive's models is read, or why none.
void check_model(const Archive& archive) {
  if (archive.find(kModelMember)) return;
  std::string others;
  for (const weights::ZipMember& member : archive.members()) {
    if (member.name.starts_with("models/")) others += (others.empty() ? "" : ", ") + member.name.substr(0, 200);
  }
  if (!others.empty()) unsupported(archive.name(), "has no model called 'model', which torch.export.save writes, but " + others);
  if (std::any_of(archive.members().begin(), archive.members().end(),
                  [](const auto& member) { return member.name.starts_with("data/aotinductor/"); })) {
    unsupported(archive.name(), "is a package of AOTInductor, which holds compiled code and no graph");
  }
  damaged(archive.name(), "has no models/model.json");
}

bool is_number(const at::IValue& value) {
  return value.isInt() || value.isDouble() || value.isBool();
}

bool is_same(const at::IValue& given, const at::IValue& fixed) {
  if (is_number(given) && is_number(fixed)) {
    return given.isInt() && fixed.isInt() ? given.toInt() == fixed.toInt()
                                          : given.toScalar().toDouble() == fixed.toScalar().toDouble();
  }
  if (given.isString() && fixed.isString()) return given.toStringRef() == fixed.toStringRef();
  return given.isNone() && fixed.isNone();
}

std::string shown_fixed(const at::IValue& value) {
  if (value.isNone()) return "None";
  if (value.isBool()) return value.toBool() ? "True" : "False";
  if (value.isInt()) return std::to_string(value.toInt());
  if (value.isDouble()) return c10::str(value.toDouble());
  return "'" + value.toStringRef() + "'";
}

InputBinding::Kind changed_kind(OutputBinding::Kind kind) {
  if (kind == OutputBinding::Kind::kBuffer) return InputBinding::Kind::kBuffer;
  return kind == OutputBinding::Kind::kParameter ? InputBinding::Kind::kParameter : InputBinding::Kind::kUser;
}

}  // namespace

Program::Program(std::shared_ptr<const Archive> archive) : archive_(std::move(archive)) {
  check_model(*archive_);
  const Json document = archive_->json(kModelMember);
  const std::string where = archive_->name() + ": " + kModelMember;
  const std::int64_t schema = integer(member(object(document, "schema_version", where), "major", where), where);
  if (schema != kSchema) {
    unsupported(where, "has version " + std::to_string(schema) + " of the export schema; version " +
                           std::to_string(kSchema) + " is known, of PyTorch 2.8 and later");
  }
  const Json& module = object(document, "graph_module", where);
  const Json& graph = object(module, "graph", where);
  signature_ = parse_signature(object(module, "signature", where), where + ": signature");
  for (const OutputBinding& output : signature_.outputs) replaced_.push_back(find_replaced(output));
  graph_ = std::make_unique<const Graph>(graph, where, modes_);
  ranges_ = parse_ranges(document, where);
  parse_trees(module, where);
  if (graph_->inputs().size() != signature_.inputs.size() || graph_->outputs() != signature_.outputs.size()) {
    damaged(where, "has a signature that does not fit its graph");
  }
  for (std::size_t i = 0; i < signature_.inputs.size(); ++i) {
    const InputBinding& binding = signature_.inputs[i];
    if (binding.kind == InputBinding::Kind::kFixed) {
      user_inputs_.push_back({i, nullptr});
    } else if (binding.kind == InputBinding::Kind::kUser) {
      user_inputs_.push_back({i, std::make_unique<InputCheck>(graph, binding.name, where)});
    }
  }
  const auto user_outputs = std::count_if(signature_.outputs.begin(), signature_.outputs.end(), [](const auto& output) {
    return output.kind == OutputBinding::Kind::kUser;
  });
  if (user_inputs_.size() != positional_.leaves() + keywords_.leaves() ||
      static_cast<std::size_t>(user_outputs) != given_.leaves()) {
    damaged(where, "has trees of inputs and outputs that do not fit its signature");
  }
}

void Program::parse_trees(const Json& module, const std::string& where) {
  for (const Json& entry : list(module, "module_call_graph", where)) {
    const Json* call = find(entry, "signature");
    if (!call || text(entry, "fqn", where) != "") continue;
    const Tree both = Tree::parse(text(*call, "in_spec", where), where + ": in_spec");
    if (!both.is_tuple() || both.parts().size() != 2 || !both.parts()[0].is_tuple() || !both.parts()[1].is_dict()) {
      damaged(where + ": in_spec", "is no pair of positional and keyword arguments");
    }
    positional_ = both.parts()[0];
    keywords_ = both.parts()[1];
    takes_ = both.structure();
    given_ = Tree::parse(text(*call, "out_spec", where), where + ": out_spec");
    if (const Json* names = find(*call, "forward_arg_names")) {
      for (const Json& name : list(*names, where)) argument_names_.push_back(text(name, where));
    }
    return;
  }
  damaged(where, "does not say how the module is called");
}

std::size_t Program::arguments() const {
  return positional_.parts().size() + keywords_.parts().size();
}

std::string Program::name_of(std::size_t argument) const {
  const std::size_t positional = positional_.parts().size();
  if (argument >= positional) {
    const at::IValue& key = keywords_.keys()[argument - positional];
    return key.isString() ? key.toStringRef() : std::to_string(key.toInt());
  }
  return argument < argument_names_.size() ? argument_names_[argument] : "argument " + std::to_string(argument);
}

const Tree& Program::tree_of(std::size_t argument) const {
  const std::size_t positional = positional_.parts().size();
  return argument < positional ? positional_.parts()[argument] : keywords_.parts()[argument - positional];
}

ExportedMode Program::mode() const {
  if (modes_.training && modes_.evaluation) return ExportedMode::kMixed;
  return modes_.training ? ExportedMode::kTraining : modes_.evaluation ? ExportedMode::kEvaluation : ExportedMode::kNone;
}

std::vector<ExportedInput> Program::inputs() const {
  std::vector<ExportedInput> result;
  for (std::size_t i = 0; i < arguments(); ++i) {
    const Tree& tree = tree_of(i);
    for (std::size_t leaf = 0; leaf < tree.leaves(); ++leaf) {
      const auto& [input, check] = user_inputs_[result.size()];
      const InputBinding& binding = signature_.inputs[input];
      result.push_back({tree.leaves() == 1 ? name_of(i) : binding.name,
                        check ? check->description() : shown_fixed(binding.fixed)});
    }
  }
  return result;
}

std::vector<Program::Leaf> Program::flatten(at::ArrayRef<at::IValue> given) const {
  if (given.size() > arguments()) {
    std::string names;
    for (std::size_t i = 0; i < arguments(); ++i) names += (i == 0 ? "" : ", ") + name_of(i);
    throw Error(ErrorCode::kInvalidArgument, "the program takes " + std::to_string(arguments()) + " arguments (" + names +
                                                 "), not " + std::to_string(given.size()));
  }
  std::vector<Leaf> leaves;
  std::vector<Tree::Leaf> found;
  for (std::size_t i = 0; i < arguments(); ++i) {
    found.clear();
    if (i < given.size()) {
      tree_of(i).flatten(given[i], name_of(i), found);
      for (Tree::Leaf& leaf : found) leaves.push_back({std::move(leaf.name), std::move(leaf.value), false});
    } else {
      for (std::size_t leaf = 0; leaf < tree_of(i).leaves(); ++leaf) leaves.push_back({name_of(i), {}, true});
    }
  }
  return leaves;
}

void Program::check_fixed(const Leaf& leaf, const at::IValue& fixed) const {
  if (leaf.is_left_out || is_same(leaf.value, fixed)) return;
  throw Error(ErrorCode::kInvalidArgument, leaf.name + " must be " + shown_fixed(fixed) +
                                               ", the value that it had when the program was exported");
}

Symbols Program::check(const std::vector<Leaf>& leaves, bool any_real) const {
  Symbols symbols;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const auto& [input, check] = user_inputs_[i];
    if (!check) {
      check_fixed(leaves[i], signature_.inputs[input].fixed);
    } else if (leaves[i].is_left_out) {
      throw Error(ErrorCode::kInvalidArgument, "the program also takes " + leaves[i].name + " (" + check->description() + ")");
    } else {
      check->bind(leaves[i].value, leaves[i].name, any_real, symbols);
    }
  }
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (user_inputs_[i].check) user_inputs_[i].check->compare(leaves[i].value, leaves[i].name, symbols);
  }
  check_ranges(ranges_, symbols);
  return symbols;
}

Program::Call Program::prepare(at::ArrayRef<at::IValue> arguments, bool any_real) const {
  const std::vector<Leaf> leaves = flatten(arguments);
  Call call{std::vector<at::IValue>(signature_.inputs.size()), check(leaves, any_real)};
  for (std::size_t i = 0; i < leaves.size(); ++i) call.inputs[user_inputs_[i].input] = leaves[i].value;
  return call;
}

at::IValue Program::run(Call call, const Tensors& tensors, const DeviceChange& devices) const {
  std::vector<at::IValue>& inputs = call.inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const InputBinding& binding = signature_.inputs[i];
    if (binding.kind == InputBinding::Kind::kFixed) {
      inputs[i] = binding.fixed;
    } else if (binding.kind != InputBinding::Kind::kUser) {
      inputs[i] = tensors.at(binding);
    }
  }
  const auto writes = [](const OutputBinding& output) { return output.kind != OutputBinding::Kind::kUser; };
  const bool is_functional = std::any_of(signature_.outputs.begin(), signature_.outputs.end(), writes);
  std::vector<at::IValue> changed = is_functional ? inputs : std::vector<at::IValue>();
  const std::vector<at::IValue> results = graph_->run(std::move(inputs), devices);
  if (is_functional) write_back(results, changed);
  std::vector<at::IValue> user;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!writes(signature_.outputs[i])) user.push_back(results[i]);
  }
  return nested(user);
}

at::IValue Program::nested(const std::vector<at::IValue>& outputs) const {
  auto next = outputs.cbegin();
  return given_.unflatten(next);
}

bool Program::changes_in_place() const {
  return modes_.in_place || std::any_of(signature_.outputs.begin(), signature_.outputs.end(), [](const auto& output) {
           return output.kind == OutputBinding::Kind::kUserInput;
         });
}

bool Program::writes_state() const {
  return std::any_of(signature_.outputs.begin(), signature_.outputs.end(), [](const auto& output) {
    return output.kind == OutputBinding::Kind::kBuffer || output.kind == OutputBinding::Kind::kParameter;
  });
}

std::optional<std::size_t> Program::find_replaced(const OutputBinding& binding) const {
  if (binding.kind == OutputBinding::Kind::kUser) return std::nullopt;
  for (std::size_t i = 0; i < signature_.inputs.size(); ++i) {
    const InputBinding& input = signature_.inputs[i];
    if (input.name == binding.name && input.kind == changed_kind(binding.kind)) return i;
  }
  return std::nullopt;
}

void Program::write_back(const std::vector<at::IValue>& results, const std::vector<at::IValue>& inputs) const {
  struct Change {
    at::Tensor target, value;
    bool with_gradient;  // an input that the program's caller differentiates
  };
  std::vector<Change> changes;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const OutputBinding& output = signature_.outputs[i];
    const auto input = replaced_[i];
    if (!input || results[i].isNone()) continue;
    changes.push_back({inputs[*input].toTensor(), results[i].toTensor(), output.kind == OutputBinding::Kind::kUserInput});
  }
  // One may be the memory that another changes.
  for (Change& one : changes) {
    const bool is_changed = std::any_of(changes.begin(), changes.end(), [&](const Change& other) {
      return &other != &one && other.target.has_storage() && one.value.has_storage() &&
             other.target.is_alias_of(one.value);
    });
    if (is_changed) one.value = one.value.clone();
  }
  for (Change& one : changes) {
    const at::AutoGradMode mode(one.with_gradient && at::GradMode::is_enabled());
    one.target.copy_(one.value);
  }
}

}  // namespace tandem::exported
