#include "tandem/error.h"
#include "tandem/pt_file.h"

namespace tandem {
namespace {

const std::string* name_of(const PtItem& item) {
  return item.key.get_if<std::string>();
}

// The first of them, for messages.
std::string names_of(const PtDict& dict) {
  constexpr std::size_t kMost = 10;
  std::string names;
  std::size_t count = 0;
  for (const PtItem& item : dict.items) {
    if (!name_of(item)) continue;
    if (++count > kMost) return names + ", …";
    names += (names.empty() ? "'" : ", '") + *name_of(item) + "'";
  }
  return names.empty() ? "no names" : names;
}

}  // namespace

const PtValue* PtValue::find(std::string_view name) const {
  const auto* const dict = get_if<PtDict>();
  if (!dict) return nullptr;
  for (const PtItem& item : dict->items) {
    if (name_of(item) && *name_of(item) == name) return &item.value;
  }
  return nullptr;
}

const PtValue& PtValue::at(std::string_view name) const {
  if (const PtValue* const found = find(name)) return *found;
  const auto* const dict = get_if<PtDict>();
  throw Error(ErrorCode::kNotFound, "there is no '" + std::string(name) +
                                        "': " + (dict ? "the dict has " + names_of(*dict) : "this is no dict"));
}

NamedTensors tensors_of(const PtValue& state_dict) {
  const auto* const dict = state_dict.get_if<PtDict>();
  if (!dict) throw Error(ErrorCode::kInvalidArgument, "a state dict is a dict, and this is none");
  NamedTensors result;
  for (const PtItem& item : dict->items) {
    const auto* const tensor = item.value.get_if<PtTensor>();
    if (!name_of(item) || !tensor) {
      const std::string what = name_of(item) ? "'" + *name_of(item) + "' is no tensor" : "a key is no name";
      throw Error(ErrorCode::kInvalidArgument, "this is no state dict: " + what + "; it has " + names_of(*dict) +
                                                   ", one of which may be the state dict");
    }
    result.emplace_back(*name_of(item), tensor->tensor);
  }
  return result;
}

PtValue state_dict_of(const NamedTensors& tensors) {
  PtDict dict;
  dict.ordered = true;
  for (const auto& [name, tensor] : tensors) dict.items.push_back({name, PtTensor{tensor.detach(), false}});
  return dict;
}

}  // namespace tandem
