#include "exported/compiled/call_layout.h"

#include "exported/types.h"

namespace tandem::exported {
namespace {

TensorLayout layout_of(const Json& graph, const std::string& name, const std::string& where) {
  const Json* meta = find(object(graph, "tensor_values", where), name.c_str());
  if (!meta) damaged(where, "does not say what '" + name + "' is");
  TensorLayout made;
  made.dtype = scalar_type(member(*meta, "dtype", where), where);
  for (const Json& size : list(*meta, "sizes", where)) made.sizes.push_back(parse_size(size, where));
  for (const Json& stride : list(*meta, "strides", where)) made.strides.push_back(parse_size(stride, where));
  if (made.sizes.size() != made.strides.size()) damaged(where, "has not as many strides as sizes for '" + name + "'");
  return made;
}

void check_input(const TensorLayout& layout, const std::string& name, const std::string& where) {
  for (std::size_t i = 0; i < layout.strides.size(); ++i) {
    const Size &size = layout.sizes[i], &stride = layout.strides[i];
    if (stride.expression || stride.number != 0 || (!size.expression && size.number <= 1)) continue;
    unsupported(where, "was exported with an expanded tensor for '" + name +
                           "', of which compiled code reads one element for all; export it with a contiguous example");
  }
}

CallLayout::Output output_of(const Json& graph, const Json& output, const std::string& where) {
  using Kind = CallLayout::Output::Kind;
  const auto [kind, content] = one_of(output, where);
  if (kind == "as_tensor") return {Kind::kTensor, layout_of(graph, text(content, "name", where), where)};
  if (kind == "as_none") return {Kind::kFixed};
  if (kind == "as_int") return {Kind::kFixed, {}, integer(content, where)};
  if (kind == "as_float") return {Kind::kFixed, {}, real(content, where)};
  if (kind == "as_bool") return {Kind::kFixed, {}, boolean(content, where)};
  if (kind == "as_string") return {Kind::kFixed, {}, text(content, where)};
  if (kind == "as_sym_int") return {Kind::kInt};
  if (kind == "as_sym_float") return {Kind::kDouble};
  if (kind == "as_sym_bool") return {Kind::kBool};
  unsupported(where, "gives a value of the kind '" + kind.substr(0, 100) + "', which compiled code does not");
}

// All names of values below: more than are read would do.
void add_names(const Json& value, std::set<std::string>& into) {
  if (value.is_object()) {
    for (const auto& [key, below] : value.items()) {
      if (key == "name" && below.is_string()) into.insert(below.get_ref<const std::string&>());
      add_names(below, into);
    }
  } else if (value.is_array()) {
    for (const Json& below : value) add_names(below, into);
  }
}

std::set<std::string> names_read(const Json& graph, const std::string& where) {
  std::set<std::string> names;
  for (const Json& node : list(graph, "nodes", where)) {
    for (const Json& input : list(node, "inputs", where)) {
      if (const Json* argument = find(input, "arg")) add_names(*argument, names);
    }
  }
  add_names(list(graph, "outputs", where), names);
  return names;
}

}  // namespace

CallLayout CallLayout::of(const Program& program) {
  const Archive& archive = *program.archive();
  const Json document = archive.json(kModelMember);
  const std::string where = archive.name() + ": " + kModelMember;
  const Json& graph = object(object(document, "graph_module", where), "graph", where);
  const Signature& signature = program.signature();
  const std::set<std::string> names = names_read(graph, where);
  const Json &inputs = list(graph, "inputs", where), &outputs = list(graph, "outputs", where);
  CallLayout made;
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
    using Kind = InputBinding::Kind;
    const InputBinding& binding = signature.inputs[i];
    const bool is_read = names.count(name_in_graph(inputs.at(i), where)) != 0;
    if (is_read && (binding.kind == Kind::kParameter || binding.kind == Kind::kBuffer)) made.reads.insert(binding.name);
    if (binding.kind != Kind::kUser) continue;
    if (find(object(graph, "sym_int_values", where), binding.name.c_str())) {
      unsupported(where, "takes the integer '" + binding.name + "', which compiled code does not");
    }
    made.inputs.push_back({i, binding.name, layout_of(graph, binding.name, where)});
    check_input(made.inputs.back().layout, binding.name, where);
  }
  for (std::size_t i = 0; i < signature.outputs.size(); ++i) {
    if (signature.outputs[i].kind != OutputBinding::Kind::kUser) continue;
    made.outputs.push_back(output_of(graph, outputs.at(i), where + ": outputs"));
  }
  return made;
}

}  // namespace tandem::exported
