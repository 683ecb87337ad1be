#include "exported/signature.h"

namespace tandem::exported {
namespace {

using InputKind = InputBinding::Kind;
using OutputKind = OutputBinding::Kind;

at::IValue fixed_value(const Json& value, const std::string& where) {
  const auto [kind, content] = one_of(value, where);
  if (kind == "as_none") return {};
  if (kind == "as_bool") return boolean(content, where);
  if (kind == "as_int") return integer(content, where);
  if (kind == "as_float") return real(content, where);
  if (kind == "as_string") return text(content, where);
  unsupported(where, "has a constant input of the kind '" + kind.substr(0, 100) + "', which is not known");
}

InputBinding input_of(const Json& specification, const std::string& where) {
  const auto [kind, content] = one_of(specification, where);
  if (kind == "parameter") return {InputKind::kParameter, text(content, "parameter_name", where)};
  if (kind == "buffer") {
    return {InputKind::kBuffer, text(content, "buffer_name", where),
            boolean(member(content, "persistent", where), where)};
  }
  if (kind == "tensor_constant") return {InputKind::kConstant, text(content, "tensor_constant_name", where)};
  if (kind == "user_input") return {InputKind::kUser, name_in_graph(member(content, "arg", where), where)};
  if (kind == "constant_input") {
    return {InputKind::kFixed, text(content, "name", where), true,
            fixed_value(member(content, "value", where), where)};
  }
  if (kind == "custom_obj") unsupported(where, "takes a TorchBind object, which only Python's program has");
  unsupported(where, "has an input of the kind '" + kind.substr(0, 100) + "', which is not supported");
}

OutputBinding output_of(const Json& specification, const std::string& where) {
  const auto [kind, content] = one_of(specification, where);
  if (kind == "user_output" || kind == "loss_output") return {OutputKind::kUser};
  if (kind == "buffer_mutation") return {OutputKind::kBuffer, text(content, "buffer_name", where)};
  if (kind == "parameter_mutation") return {OutputKind::kParameter, text(content, "parameter_name", where)};
  if (kind == "user_input_mutation") return {OutputKind::kUserInput, text(content, "user_input_name", where)};
  unsupported(where, "has an output of the kind '" + kind.substr(0, 100) +
                         "', which is not supported; export the model's forward alone");
}

}  // namespace

Signature parse_signature(const Json& signature, const std::string& where) {
  Signature result;
  for (const Json& input : list(signature, "input_specs", where)) result.inputs.push_back(input_of(input, where));
  for (const Json& output : list(signature, "output_specs", where)) result.outputs.push_back(output_of(output, where));
  return result;
}

}  // namespace tandem::exported
