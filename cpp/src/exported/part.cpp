#include "exported/part.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace tandem::exported {
namespace {

// Numbers are tensors between parts.
at::IValue to_tensor(const at::IValue& value, const std::string& what) {
  if (value.isTensor()) return value;
  if (value.isNone()) return at::Tensor();
  if (value.isInt()) return at::scalar_tensor(value.toInt(), at::kLong);
  if (value.isBool()) return at::scalar_tensor(value.toBool(), at::kBool);
  if (value.isDouble()) return at::scalar_tensor(value.toDouble(), at::kDouble);
  throw Error(ErrorCode::kUnsupported, what + " is a " + value.tagKind() + ", and parts of a program give tensors alone");
}

at::IValue from_tensor(const at::IValue& given, SlotKind kind) {
  const at::Tensor tensor = given.toTensor();
  if (kind == SlotKind::kTensor) return tensor.defined() ? at::IValue(tensor) : at::IValue();
  if (!tensor.defined() || tensor.numel() != 1) {
    throw Error(ErrorCode::kInvalidArgument, "a part of a program wants a number, which the part before it gives");
  }
  if (kind == SlotKind::kInt) return tensor.item<std::int64_t>();
  if (kind == SlotKind::kBool) return tensor.item<bool>();
  return tensor.item<double>();
}

}  // namespace

std::vector<Graph::Cut> Program::cuts() const {
  std::vector<bool> own;
  for (const InputBinding& input : signature_.inputs) own.push_back(input.kind != InputBinding::Kind::kUser);
  std::vector<std::pair<std::size_t, std::size_t>> replaces;
  for (std::size_t i = 0; i < signature_.outputs.size(); ++i) {
    if (signature_.outputs[i].kind == OutputBinding::Kind::kUserInput) {
      unsupported(archive_->name(), "changes its input '" + signature_.outputs[i].name + "', and does not divide into parts");
    }
    if (replaced_[i]) replaces.emplace_back(i, *replaced_[i]);
  }
  return graph_->cuts(own, replaces);
}

bool Program::is_there(std::size_t output, const Graph::Cut& begin, const Graph::Cut& end) const {
  const std::size_t node = graph_->output_is_there(output);
  return (begin.node == 0 || node > begin.node) && node <= end.node;
}

bool Program::uses(const Graph::Cut& begin, const Graph::Cut& end, std::size_t input) const {
  const std::ptrdiff_t slot = graph_->slot_of_input(input);
  if (slot >= 0 && graph_->reads(begin.node, end.node, static_cast<std::size_t>(slot))) return true;
  for (std::size_t i = 0; i < signature_.outputs.size(); ++i) {
    if (replaced_[i] == input && is_there(i, begin, end)) return true;
    // The last part hands on what the program gives as it is: a loss may train it there.
    const bool is_given = end.node == graph_->nodes() && signature_.outputs[i].kind == OutputBinding::Kind::kUser;
    if (is_given && slot >= 0 && graph_->gives(i, static_cast<std::size_t>(slot))) return true;
  }
  return false;
}

Program::Span Program::between(Graph::Cut begin, Graph::Cut end) const {
  Span span{std::move(begin), std::move(end), {}};
  for (std::size_t i = 0; i < signature_.inputs.size(); ++i) {
    if (uses(span.begin, span.end, i)) span.used.push_back(i);
  }
  return span;
}

std::vector<at::IValue> Program::run_part(const Span& span, at::ArrayRef<at::IValue> given, const Tensors& tensors,
                                          const DeviceChange& devices, bool any_real) const {
  const Graph::Cut &begin = span.begin, &end = span.end;
  const bool is_last = end.node == graph_->nodes();
  Frame frame{std::vector<at::IValue>(graph_->slots()), devices};
  std::vector<at::IValue> inputs(signature_.inputs.size());
  if (begin.node == 0) {
    inputs = prepare(given, any_real).inputs;
  } else if (given.size() != begin.slots.size()) {
    throw Error(ErrorCode::kInvalidArgument, "this part of a program takes " + std::to_string(begin.slots.size()) +
                                                 " tensors of the part before it, not " + std::to_string(given.size()));
  } else {
    for (std::size_t i = 0; i < given.size(); ++i) {
      frame.slots[begin.slots[i]] = from_tensor(given[i], graph_->kind(begin.slots[i]));
    }
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const InputBinding& binding = signature_.inputs[i];
    const std::ptrdiff_t slot = graph_->slot_of_input(i);
    if (binding.kind == InputBinding::Kind::kFixed) {
      inputs[i] = binding.fixed;
    } else if (binding.kind != InputBinding::Kind::kUser && std::ranges::binary_search(span.used, i)) {
      inputs[i] = tensors.at(binding);
    }
    if (slot >= 0 && !inputs[i].isNone()) frame.slots[static_cast<std::size_t>(slot)] = inputs[i];
  }
  graph_->run_nodes(begin.node, end.node, frame);
  std::vector<at::IValue> results, replaced(signature_.outputs.size());
  for (std::size_t i = 0; i < signature_.outputs.size(); ++i) {
    if (signature_.outputs[i].kind == OutputBinding::Kind::kUser) {
      if (is_last) results.push_back(to_tensor(graph_->output(i, frame), "an output of the program"));
    } else if (is_there(i, begin, end)) {
      replaced[i] = graph_->output(i, frame);
    }
  }
  write_back(replaced, inputs);
  if (is_last) return results;
  for (const std::size_t slot : end.slots) {
    results.push_back(to_tensor(frame.slots[slot], "a value that crosses a cut"));
  }
  return results;
}

Part::Read::Read(const Model& model, const Program::Span& span)
    : exported_dtype_(model.exported_dtype()), model_has_other_dtype_(model.has_other_dtype()) {
  for (const std::size_t i : span.used) {
    const InputBinding& binding = model.program().signature().inputs[i];
    if (binding.is_given()) continue;
    const at::Tensor tensor = model.at(binding);
    (binding.is_state() ? state_ : constants_).emplace(binding.name, tensor);
    if (!real_.defined() && binding.is_state() && tensor.is_floating_point()) real_ = tensor;
  }
}

at::Tensor Part::Read::at(const InputBinding& binding) const {
  if (binding.is_state()) return state_.at(binding.name);
  const std::lock_guard<std::mutex> lock(moving_);
  at::Tensor& constant = constants_.at(binding.name);
  if (real_.defined() && constant.device() != real_.device()) constant = moved_constant(constant, real_.device());
  return constant;
}

at::Device Part::Read::device(at::ArrayRef<at::IValue> given) const {
  if (real_.defined()) return real_.device();
  const auto tensor = std::ranges::find_if(given, [](const at::IValue& one) { return one.isTensor() && one.toTensor().defined(); });
  return tensor == given.end() ? at::Device(at::kCPU) : tensor->toTensor().device();
}

bool Part::Read::has_other_dtype() const {
  return real_.defined() ? real_.scalar_type() != exported_dtype_ : model_has_other_dtype_;
}

Part::Part(const Model& model, Graph::Cut begin, Graph::Cut end)
    : nn::Module("ExportedProgramPart"),
      program_(model.shared_program()),
      span_(program_->between(std::move(begin), std::move(end))),
      exported_device_(model.exported_device()),
      read_(model, span_),
      root_(std::make_shared<ScopeTree>()) {
  for (const auto& [name, tensor, is_parameter] : model.state_of_part(span_)) {
    root_->add_to_tree(name, tensor, is_parameter, program_->archive()->name());
  }
}

std::vector<at::IValue> Part::forward(at::ArrayRef<at::IValue> arguments) {
  const DeviceChange devices{exported_device_, read_.device(arguments)};
  return program_->run_part(span_, arguments, read_, devices, read_.has_other_dtype());
}

std::unique_ptr<nn::Module> Part::copy() const {
  throw Error(ErrorCode::kUnsupported, "a part of an exported program shares the program's tensors, and is not copied");
}

std::vector<std::unique_ptr<nn::Module>> Part::divide(const Model& model, std::size_t least) {
  const Program& program = model.program();
  if (!model.has_one_mode()) {
    unsupported(program.archive()->name(), "was loaded with an archive of the other mode; load the one to be divided alone");
  }
  // By how many values cross; at most as few as make enough parts.
  std::map<std::size_t, std::vector<Graph::Cut>> by_crossing;
  for (Graph::Cut& cut : program.cuts()) by_crossing[cut.slots.size()].push_back(std::move(cut));
  std::vector<Graph::Cut> chosen;
  for (auto& [count, cuts] : by_crossing) {
    if (chosen.size() + 1 >= least) break;
    chosen.insert(chosen.end(), std::make_move_iterator(cuts.begin()), std::make_move_iterator(cuts.end()));
  }
  std::ranges::sort(chosen, {}, &Graph::Cut::node);
  chosen.push_back({program.nodes(), {}});
  std::vector<std::unique_ptr<nn::Module>> parts;
  Graph::Cut begin;
  for (Graph::Cut& end : chosen) {
    parts.push_back(std::make_unique<Part>(model, begin, end));
    begin = std::move(end);
  }
  return parts;
}

}  // namespace tandem::exported
