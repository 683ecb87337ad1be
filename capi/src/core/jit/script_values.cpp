#include "core/jit/script_values.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>

#include <algorithm>
#include <string>

#include "core/operators/nested_values.h"
#include "core/operators/value_memory.h"
#include "core/operators/values.h"
#include "core/rpc/rref_handle.h"
#include "utf8.h"

namespace tandem::capi {
namespace {

at::IValue to_script_dict(const tdm_value& value, const std::string& name, int depth) {
  const auto items = elements_of<tdm_value>(value, name);
  if (items.size() % 2 != 0) invalid("argument '" + name + "' is a dict whose last key has no value");
  c10::impl::GenericDict dict(c10::AnyType::get(), c10::AnyType::get());
  for (std::size_t i = 0; i < items.size(); i += 2) {
    const tdm_value& key = items[i];
    if (key.tag != TDM_VALUE_STRING && key.tag != TDM_VALUE_INT && key.tag != TDM_VALUE_DOUBLE &&
        key.tag != TDM_VALUE_BOOL) {
      invalid("argument '" + element_name(name, i) + "' is a key of a dict and must be a string or a number, not " +
              describe(key));
    }
    dict.insert(to_script(key, element_name(name, i), depth + 1),
                to_script(items[i + 1], element_name(name, i + 1), depth + 1));
  }
  return dict;
}

std::vector<at::IValue> to_script_elements(const tdm_value& value, const std::string& name, int depth) {
  std::vector<at::IValue> elements;
  for (const tdm_value& element : elements_of<tdm_value>(value, name)) {
    elements.push_back(to_script(element, element_name(name, elements.size()), depth + 1));
  }
  return elements;
}

at::IValue list_of_any(const std::vector<at::IValue>& elements) {
  c10::impl::GenericList list(c10::AnyType::get());
  for (const at::IValue& element : elements) list.push_back(element);
  return list;
}

// NULL stands for None.
at::IValue to_script_tensors(const tdm_value& value, const std::string& name) {
  const auto handles = elements_of<tdm_tensor*>(value, name);
  if (std::find(handles.begin(), handles.end(), nullptr) == handles.end()) return to_ivalue(value, name);
  std::vector<at::IValue> elements;
  for (const at::Tensor& tensor : unwrap_optional_list(handles.data(), handles.size(), name.c_str())) {
    elements.push_back(tensor.defined() ? at::IValue(tensor) : at::IValue());
  }
  return list_of_any(elements);
}

tdm_value from_elements(tdm_value_tag tag, c10::ArrayRef<at::IValue> elements, int depth) {
  ListMaker made(tag, elements.size());
  for (const at::IValue& element : elements) made.add(from_script(element, depth + 1));
  return made.take();
}

// UTF-8 without zeros.
bool is_text(const std::string& bytes) {
  std::size_t at = 0;
  while (at < bytes.size() && bytes[at] != '\0') {
    const int length = tandem_utf8_length(bytes.data() + at);
    if (length == 0) return false;
    at += static_cast<std::size_t>(length);
  }
  return at == bytes.size();
}

tdm_value from_strings(c10::ArrayRef<at::IValue> texts) {
  tdm_value value = make_value(TDM_VALUE_STRING_LIST);
  auto** const copies = allocate<char*>(texts.size());
  value.as.list = {copies, texts.size()};
  try {
    for (std::size_t i = 0; i < texts.size(); ++i) copies[i] = copy_text(texts[i].toStringRef());
  } catch (...) {
    tdm_value_clear(&value);
    throw;
  }
  return value;
}

tdm_value from_script_list(const at::IValue& value, int depth) {
  const auto elements = value.toListRef();
  const auto element = value.toList().elementType();
  // Strings of any bytes are values of their own, so that each keeps them and its length.
  const auto is_text_value = [](const at::IValue& given) { return is_text(given.toStringRef()); };
  if (element->kind() == c10::TypeKind::StringType && std::all_of(elements.begin(), elements.end(), is_text_value)) {
    return from_strings(elements);
  }
  switch (element->kind()) {
    case c10::TypeKind::TensorType:
    case c10::TypeKind::IntType:
    case c10::TypeKind::FloatType:
    case c10::TypeKind::BoolType:
      return from_ivalue(value);
    default:
      return from_elements(TDM_VALUE_LIST, elements, depth);
  }
}

}  // namespace

at::IValue to_script(const tdm_value& value, const std::string& name, int depth) {
  if (depth > kMaxNesting) nests_too_deep(name);
  switch (value.tag) {
    case TDM_VALUE_TUPLE:
      return c10::ivalue::Tuple::create(to_script_elements(value, name, depth));
    case TDM_VALUE_LIST:
      return list_of_any(to_script_elements(value, name, depth));
    case TDM_VALUE_DICT:
      return to_script_dict(value, name, depth);
    case TDM_VALUE_TENSOR_LIST:
      return to_script_tensors(value, name);
    case TDM_VALUE_RREF:
      return not_null(value.as.rref, name.c_str())->rref.value();
    default:
      return to_ivalue(value, name, depth);
  }
}

tdm_value from_script(const at::IValue& value, int depth) {
  if (depth > kMaxNesting) {
    throw Error(ErrorCode::kUnsupported,
                "a result nests more than " + std::to_string(kMaxNesting) + " values in one another");
  }
  if (value.isList()) return from_script_list(value, depth);
  if (value.isTuple()) return from_elements(TDM_VALUE_TUPLE, value.toTupleRef().elements(), depth);
  if (value.isGenericDict()) {
    const auto dict = value.toGenericDict();
    ListMaker made(TDM_VALUE_DICT, 2 * dict.size());
    for (const auto& item : dict) {
      made.add(from_script(item.key(), depth + 1));
      made.add(from_script(item.value(), depth + 1));
    }
    return made.take();
  }
  if (value.isRRef()) {
    tdm_value made = make_value(TDM_VALUE_RREF);
    made.as.rref = new tdm_rref(rpc::RRef::from(value));
    return made;
  }
  if (value.isObject()) {
    throw Error(ErrorCode::kUnsupported, "a result of class " + value.type()->repr_str() + " has no tag in tdm_value");
  }
  return from_ivalue(value);
}

}  // namespace tandem::capi
