#include "core/operators/values.h"

#include <cstdlib>

#include "core/devices/generator.h"
#include "core/operators/nested_values.h"
#include "core/operators/value_memory.h"

namespace tandem::capi {
namespace {

std::string argument(const std::string& name) {
  return "argument '" + name + "'";
}

tdm_value from_list(const at::IValue& list, const c10::Type* type);

tdm_value from_scalar(const at::IValue& value) {
  tdm_value result{};
  if (value.isInt()) {
    result = make_value(TDM_VALUE_INT);
    result.as.integer = value.toInt();
  } else if (value.isDouble()) {
    result = make_value(TDM_VALUE_DOUBLE);
    result.as.real = value.toDouble();
  } else if (value.isBool()) {
    result = make_value(TDM_VALUE_BOOL);
    result.as.boolean = value.toBool();
  } else {
    const auto number = value.toComplexDouble();
    result = make_value(TDM_VALUE_COMPLEX);
    result.as.complex_number = {number.real(), number.imag()};
  }
  return result;
}

bool is_scalar(const at::IValue& value) {
  return value.isInt() || value.isDouble() || value.isBool() || value.isComplexDouble();
}

// Calls `convert` for the element type of an optional as for the type itself.
const c10::Type* without_optional(const c10::Type* type) {
  if (type && type->kind() == c10::TypeKind::OptionalType) return type->containedType(0).get();
  return type;
}

tdm_value_tag enumeration_tag(const c10::Type* type) {
  if (!type) return TDM_VALUE_INT;
  switch (type->kind()) {
    case c10::TypeKind::ScalarTypeType:
      return TDM_VALUE_DTYPE;
    case c10::TypeKind::LayoutType:
      return TDM_VALUE_LAYOUT;
    case c10::TypeKind::MemoryFormatType:
      return TDM_VALUE_MEMORY_FORMAT;
    default:
      return TDM_VALUE_INT;
  }
}

tdm_value from_list(const at::IValue& list, const c10::Type*) {
  tdm_value value{};
  if (list.isTensorList() || list.isOptionalTensorList()) {
    value = make_value(TDM_VALUE_TENSOR_LIST);
    const auto items = list.toListRef();
    auto** handles = allocate<tdm_tensor*>(items.size());
    value.as.list = {handles, items.size()};
    try {
      for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].isTensor() && items[i].toTensor().defined()) handles[i] = make_tensor_handle(items[i].toTensor());
      }
    } catch (...) {
      tdm_value_clear(&value);
      throw;
    }
  } else if (list.isIntList()) {
    value = make_value(TDM_VALUE_INT_LIST);
    const auto numbers = list.toIntVector();
    auto* copy = allocate<std::int64_t>(numbers.size());
    std::copy(numbers.begin(), numbers.end(), copy);
    value.as.list = {copy, numbers.size()};
  } else if (list.isDoubleList()) {
    value = make_value(TDM_VALUE_DOUBLE_LIST);
    const auto numbers = list.toDoubleVector();
    auto* copy = allocate<double>(numbers.size());
    std::copy(numbers.begin(), numbers.end(), copy);
    value.as.list = {copy, numbers.size()};
  } else if (list.isBoolList()) {
    value = make_value(TDM_VALUE_BOOL_LIST);
    const auto flags = list.toBoolList();
    auto* copy = allocate<std::uint8_t>(flags.size());
    for (std::size_t i = 0; i < flags.size(); ++i) copy[i] = flags.get(i);
    value.as.list = {copy, flags.size()};
  } else {
    const auto items = list.toListRef();
    bool texts = !items.empty();
    bool scalars = true;
    for (const auto& item : items) {
      texts = texts && item.isString();
      scalars = scalars && is_scalar(item);
    }
    if (texts) {
      value = make_value(TDM_VALUE_STRING_LIST);
      auto** copies = allocate<char*>(items.size());
      value.as.list = {copies, items.size()};
      for (std::size_t i = 0; i < items.size(); ++i) copies[i] = copy_text(items[i].toStringRef());
    } else if (scalars) {
      value = make_value(TDM_VALUE_SCALAR_LIST);
      auto* copies = allocate<tdm_value>(items.size());
      value.as.list = {copies, items.size()};
      for (std::size_t i = 0; i < items.size(); ++i) copies[i] = from_scalar(items[i]);
    } else {
      ListMaker elements(TDM_VALUE_TUPLE, items.size());
      for (const auto& item : items) elements.add(from_ivalue(item));
      value = elements.take();
    }
  }
  return value;
}

tdm_value from_tuple(const c10::ivalue::Tuple& tuple) {
  ListMaker elements(TDM_VALUE_TUPLE, tuple.elements().size());
  for (const at::IValue& element : tuple.elements()) elements.add(from_ivalue(element));
  return elements.take();
}

tdm_value from_dict(const c10::impl::GenericDict& dict) {
  ListMaker elements(TDM_VALUE_DICT, 2 * dict.size());
  for (const auto& item : dict) {
    elements.add(from_ivalue(item.key()));
    elements.add(from_ivalue(item.value()));
  }
  return elements.take();
}

// The ABI's numbers are LibTorch's.
static_assert(TDM_LAYOUT_SPARSE_CSC == static_cast<int>(at::Layout::SparseCsc) &&
              TDM_LAYOUT_SPARSE_BSR == static_cast<int>(at::Layout::SparseBsr) &&
              TDM_LAYOUT_SPARSE_BSC == static_cast<int>(at::Layout::SparseBsc));

at::Scalar scalar(const tdm_value& value, const std::string& name) {
  switch (value.tag) {
    case TDM_VALUE_BOOL:
      return at::Scalar(value.as.boolean != 0);
    case TDM_VALUE_INT:
      return at::Scalar(value.as.integer);
    case TDM_VALUE_DOUBLE:
      return at::Scalar(value.as.real);
    case TDM_VALUE_COMPLEX:
      return at::Scalar(c10::complex<double>(value.as.complex_number.re, value.as.complex_number.im));
    default:
      invalid(argument(name) + " must be a number, not " + describe(value));
  }
}

}  // namespace

bool is_layout(tdm_layout layout) {
  return (layout >= TDM_LAYOUT_STRIDED && layout <= TDM_LAYOUT_SPARSE_CSR) ||
         (layout >= TDM_LAYOUT_SPARSE_CSC && layout <= TDM_LAYOUT_SPARSE_BSC);
}

std::string describe(const tdm_value& value) {
  static const char* const names[] = {"none",
                                      "the default",
                                      "a tensor",
                                      "a bool",
                                      "an int",
                                      "a double",
                                      "a complex number",
                                      "a string",
                                      "a dtype",
                                      "a layout",
                                      "a memory format",
                                      "a device",
                                      "a list of tensors",
                                      "a list of bools",
                                      "a list of ints",
                                      "a list of doubles",
                                      "a list of strings",
                                      "a list of scalars",
                                      "a generator",
                                      "a tuple",
                                      "a dict",
                                      "a list",
                                      "a reference (RRef)"};
  if (value.tag >= 0 && value.tag < static_cast<int>(std::size(names))) return names[value.tag];
  return "a value with the unknown tag " + std::to_string(value.tag);
}

std::string type_name(const c10::Type& type) {
  return type.str();
}

void check_list(const tdm_value& value, const char* name) {
  check_count(value.as.list.size, name);
  if (value.as.list.size != 0 && !value.as.list.data)
    invalid(argument(name) + " is " + describe(value) + " whose data is NULL");
}

namespace {

at::IValue to_tuple(const tdm_value& value, const std::string& name, int depth) {
  if (depth == kMaxNesting) nests_too_deep(name);
  std::vector<at::IValue> list;
  for (const tdm_value& element : elements_of<tdm_value>(value, name)) {
    list.push_back(to_ivalue(element, name + "[" + std::to_string(list.size()) + "]", depth + 1));
  }
  return c10::ivalue::Tuple::create(std::move(list));
}

at::IValue to_dict(const tdm_value& value, const std::string& name, int depth) {
  if (depth == kMaxNesting) nests_too_deep(name);
  const auto items = elements_of<tdm_value>(value, name);
  if (items.size() % 2 != 0) invalid(argument(name) + " is a dict whose last key has no value");
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  for (std::size_t i = 0; i < items.size(); i += 2) {
    const std::string place = name + "[" + std::to_string(i);
    if (items[i].tag != TDM_VALUE_STRING) {
      invalid(argument(place + "]") + " is a key of a dict and must be a string, not " + describe(items[i]));
    }
    dict.insert(to_ivalue(items[i], place + "]", depth + 1),
                to_ivalue(items[i + 1], name + "[" + std::to_string(i + 1) + "]", depth + 1));
  }
  return dict;
}

}  // namespace

std::string text_of(const tdm_value& value, const std::string& name) {
  if (value.as.string.size != 0 && !value.as.string.data) invalid(argument(name) + " is a string whose data is NULL");
  if (value.as.string.size > kMaxCount) {
    invalid(argument(name) + " cannot be a string of " + std::to_string(value.as.string.size) + " bytes");
  }
  return std::string(value.as.string.data ? value.as.string.data : "", value.as.string.size);
}

at::IValue to_ivalue(const tdm_value& value, const std::string& name, int depth) {
  switch (value.tag) {
    case TDM_VALUE_NONE:
      return {};
    case TDM_VALUE_TENSOR:
      return unwrap(value.as.tensor, name.c_str());
    case TDM_VALUE_BOOL:
    case TDM_VALUE_INT:
    case TDM_VALUE_DOUBLE:
    case TDM_VALUE_COMPLEX:
      return scalar(value, name);
    case TDM_VALUE_STRING:
      return text_of(value, name);
    case TDM_VALUE_DTYPE:
      return static_cast<std::int64_t>(to_scalar_type(value.as.enumeration, name.c_str()));
    case TDM_VALUE_LAYOUT:
      if (!is_layout(value.as.enumeration)) {
        invalid(argument(name) + " is " + std::to_string(value.as.enumeration) + ", which is no TDM_LAYOUT");
      }
      return static_cast<std::int64_t>(value.as.enumeration);
    case TDM_VALUE_MEMORY_FORMAT:
      if (value.as.enumeration < TDM_MEMORY_FORMAT_CONTIGUOUS ||
          value.as.enumeration > TDM_MEMORY_FORMAT_CHANNELS_LAST_3D) {
        invalid(argument(name) + " is " + std::to_string(value.as.enumeration) + ", which is no TDM_MEMORY_FORMAT");
      }
      return static_cast<std::int64_t>(value.as.enumeration);
    case TDM_VALUE_DEVICE:
      return to_device(value.as.device, name.c_str());
    case TDM_VALUE_GENERATOR:
      return not_null(value.as.generator, name.c_str())->generator;
    case TDM_VALUE_TENSOR_LIST: {
      c10::List<at::Tensor> list;
      const auto handles = elements_of<tdm_tensor*>(value, name);
      for (auto& tensor : unwrap_list(handles.data(), handles.size(), name.c_str())) list.push_back(std::move(tensor));
      return list;
    }
    case TDM_VALUE_BOOL_LIST: {
      c10::List<bool> list;
      for (std::uint8_t flag : elements_of<std::uint8_t>(value, name)) list.push_back(flag != 0);
      return list;
    }
    case TDM_VALUE_INT_LIST:
      return elements_of<std::int64_t>(value, name);
    case TDM_VALUE_DOUBLE_LIST:
      return elements_of<double>(value, name);
    case TDM_VALUE_STRING_LIST: {
      c10::List<std::string> list;
      const auto texts = elements_of<const char*>(value, name);
      for (std::size_t i = 0; i < texts.size(); ++i) {
        if (!texts[i]) invalid(argument(name) + "[" + std::to_string(i) + "] is NULL");
        list.push_back(texts[i]);
      }
      return list;
    }
    case TDM_VALUE_SCALAR_LIST: {
      c10::impl::GenericList list(c10::NumberType::get());
      const auto items = elements_of<tdm_value>(value, name);
      for (std::size_t i = 0; i < items.size(); ++i) {
        list.push_back(scalar(items[i], name + "[" + std::to_string(i) + "]"));
      }
      return list;
    }
    case TDM_VALUE_TUPLE:
      return to_tuple(value, name, depth);
    case TDM_VALUE_DICT:
      return to_dict(value, name, depth);
    default:
      invalid(argument(name) + " cannot be " + describe(value));
  }
}

tdm_value from_tensor(at::Tensor tensor) {
  if (!tensor.defined()) return make_value(TDM_VALUE_NONE);
  tdm_value result = make_value(TDM_VALUE_TENSOR);
  result.as.tensor = make_tensor_handle(std::move(tensor));
  return result;
}

tdm_value from_ivalue(const at::IValue& value, const c10::Type* type) {
  type = without_optional(type);
  if (value.isTensor()) return from_tensor(value.toTensor());
  if (value.isNone()) return make_value(TDM_VALUE_NONE);
  if (value.isInt()) {
    const tdm_value_tag tag = enumeration_tag(type);
    if (tag != TDM_VALUE_INT) {
      tdm_value result = make_value(tag);
      const auto number = static_cast<std::int32_t>(value.toInt());
      result.as.enumeration = tag == TDM_VALUE_DTYPE    ? from_scalar_type(static_cast<at::ScalarType>(number))
                              : tag == TDM_VALUE_LAYOUT ? (is_layout(number) ? number : -1)
                                                        : number;
      return result;
    }
  }
  if (is_scalar(value)) return from_scalar(value);
  if (value.isSymInt()) return from_scalar(value.toSymInt().guard_int(__FILE__, __LINE__));
  if (value.isString()) return make_text(value.toStringRef());
  if (value.isDevice()) {
    tdm_value result = make_value(TDM_VALUE_DEVICE);
    result.as.device = from_device(value.toDevice());
    return result;
  }
  if (value.isList()) return from_list(value, type);
  if (value.isTuple()) return from_tuple(value.toTupleRef());
  if (value.isGenericDict()) return from_dict(value.toGenericDict());
  throw Error(ErrorCode::kUnsupported, "a result of type " + value.tagKind() + " has no tag in tdm_value");
}

Results::~Results() {
  for (auto& value : values_) tdm_value_clear(&value);
}

void Results::hand_over(tdm_value* to) {
  std::copy(values_.begin(), values_.end(), to);
  values_.clear();
}

}  // namespace tandem::capi

void tdm_value_clear(tdm_value* value) {
  if (!value || !tandem::thread_state_if_memory()) return;
  const auto& list = value->as.list;
  switch (value->tag) {
    case TDM_VALUE_TENSOR:
      tdm_tensor_free(value->as.tensor);
      break;
    case TDM_VALUE_STRING:
      std::free(const_cast<char*>(value->as.string.data));
      break;
    case TDM_VALUE_TENSOR_LIST:
      for (std::size_t i = 0; i < list.size; ++i) tdm_tensor_free(static_cast<tdm_tensor* const*>(list.data)[i]);
      std::free(const_cast<void*>(list.data));
      break;
    case TDM_VALUE_STRING_LIST:
      for (std::size_t i = 0; i < list.size; ++i) {
        std::free(const_cast<char*>(static_cast<const char* const*>(list.data)[i]));
      }
      std::free(const_cast<void*>(list.data));
      break;
    case TDM_VALUE_TUPLE:
    case TDM_VALUE_DICT:
    case TDM_VALUE_LIST:
      for (std::size_t i = 0; i < list.size; ++i)
        tdm_value_clear(&static_cast<tdm_value*>(const_cast<void*>(list.data))[i]);
      std::free(const_cast<void*>(list.data));
      break;
    case TDM_VALUE_BOOL_LIST:
    case TDM_VALUE_INT_LIST:
    case TDM_VALUE_DOUBLE_LIST:
    case TDM_VALUE_SCALAR_LIST:
      std::free(const_cast<void*>(list.data));
      break;
    case TDM_VALUE_RREF:
      tdm_rref_free(value->as.rref);
      break;
    default:
      break;
  }
  *value = tdm_value{};
}
