#include "core/training/pt_values.h"

#include "core/operators/nested_values.h"
#include "core/operators/value_memory.h"
#include "core/operators/values.h"

namespace tandem::capi {
namespace {

tdm_value make(const PtValue& value, const std::string& place, int depth);

// Of each kind; `place` is the value's in errors.
struct Make {
  const std::string& place;
  int depth;

  tdm_value operator()(std::monostate) const { return make_value(TDM_VALUE_NONE); }
  tdm_value operator()(bool flag) const {
    tdm_value made = make_value(TDM_VALUE_BOOL);
    made.as.boolean = flag;
    return made;
  }
  tdm_value operator()(std::int64_t number) const {
    tdm_value made = make_value(TDM_VALUE_INT);
    made.as.integer = number;
    return made;
  }
  tdm_value operator()(double number) const {
    tdm_value made = make_value(TDM_VALUE_DOUBLE);
    made.as.real = number;
    return made;
  }
  tdm_value operator()(const std::complex<double>& number) const {
    tdm_value made = make_value(TDM_VALUE_COMPLEX);
    made.as.complex_number = {number.real(), number.imag()};
    return made;
  }
  tdm_value operator()(const std::string& text) const { return make_text(text); }
  tdm_value operator()(const PtBytes& value) const {
    const auto size = static_cast<std::int64_t>(value.bytes.size());
    return from_tensor(at::from_blob(const_cast<char*>(value.bytes.data()), {size}, at::kByte).clone());
  }
  tdm_value operator()(const PtTensor& tensor) const { return from_tensor(tensor.tensor); }
  tdm_value operator()(at::ScalarType dtype) const {
    tdm_value made = make_value(TDM_VALUE_DTYPE);
    made.as.enumeration = from_scalar_type(dtype);
    return made;
  }
  tdm_value operator()(const at::Device& device) const {
    tdm_value made = make_value(TDM_VALUE_DEVICE);
    made.as.device = from_device(device);
    return made;
  }
  tdm_value operator()(const PtTuple& tuple) const { return elements(TDM_VALUE_TUPLE, tuple.items); }
  tdm_value operator()(const PtList& list) const { return elements(TDM_VALUE_LIST, list.items); }
  tdm_value operator()(const PtSet& set) const { return elements(TDM_VALUE_LIST, set.items); }
  tdm_value operator()(const PtDict& dict) const {
    ListMaker made(TDM_VALUE_DICT, 2 * dict.items.size());
    for (const PtItem& item : dict.items) {
      const auto* const name = item.key.get_if<std::string>();
      const auto* const number = item.key.get_if<std::int64_t>();
      if (!name && !number) {
        throw Error(ErrorCode::kUnsupported, place + " has a key that is neither a string nor an integer");
      }
      made.add(make(item.key, place, depth));
      made.add(make(item.value, place + "[" + (name ? "'" + name->substr(0, 100) + "'" : std::to_string(*number)) + "]",
                    depth + 1));
    }
    return made.take();
  }

  tdm_value elements(tdm_value_tag tag, const std::vector<PtValue>& items) const {
    ListMaker made(tag, items.size());
    for (std::size_t i = 0; i < items.size(); ++i) made.add(make(items[i], element_name(place, i), depth + 1));
    return made.take();
  }
};

tdm_value make(const PtValue& value, const std::string& place, int depth) {
  if (depth > kMaxNesting) {
    throw Error(ErrorCode::kUnsupported, place + " lies in more than " + std::to_string(kMaxNesting) + " values");
  }
  return std::visit(Make{place, depth}, value.value);
}

PtValue read(const tdm_value& value, const std::string& name, int depth);

PtValue read_tensor(tdm_tensor* tensor, const std::string& name) {
  return unwrap(tensor, name.c_str()).detach();
}

std::vector<PtValue> read_elements(const tdm_value& value, const std::string& name, int depth) {
  if (depth == kMaxNesting) nests_too_deep(name);
  std::vector<PtValue> items;
  for (const tdm_value& element : elements_of<tdm_value>(value, name)) {
    items.push_back(read(element, element_name(name, items.size()), depth + 1));
  }
  return items;
}

PtValue read_dict(const tdm_value& value, const std::string& name, int depth) {
  std::vector<PtValue> items = read_elements(value, name, depth);
  if (items.size() % 2 != 0) invalid("argument '" + name + "' is a dict whose last key has no value");
  PtDict dict;
  for (std::size_t i = 0; i < items.size(); i += 2) {
    if (!items[i].get_if<std::string>() && !items[i].get_if<std::int64_t>()) {
      invalid("argument '" + element_name(name, i) + "' is a key of a dict and must be a string or an int, not " +
              describe(elements_of<tdm_value>(value, name)[i]));
    }
    dict.items.push_back({std::move(items[i]), std::move(items[i + 1])});
  }
  return dict;
}

template <typename T, typename Read>
PtList read_list(const tdm_value& value, const std::string& name, Read&& read_one) {
  PtList list;
  for (const T& element : elements_of<T>(value, name)) {
    list.items.push_back(read_one(element, element_name(name, list.items.size())));
  }
  return list;
}

PtValue read(const tdm_value& value, const std::string& name, int depth) {
  switch (value.tag) {
    case TDM_VALUE_NONE:
      return {};
    case TDM_VALUE_TENSOR:
      return read_tensor(value.as.tensor, name);
    case TDM_VALUE_BOOL:
      return value.as.boolean != 0;
    case TDM_VALUE_INT:
      return value.as.integer;
    case TDM_VALUE_DOUBLE:
      return value.as.real;
    case TDM_VALUE_COMPLEX:
      return std::complex<double>(value.as.complex_number.re, value.as.complex_number.im);
    case TDM_VALUE_STRING:
      return text_of(value, name);
    case TDM_VALUE_DTYPE:
      return to_scalar_type(value.as.enumeration, name.c_str());
    case TDM_VALUE_DEVICE:
      return to_device(value.as.device, name.c_str());
    case TDM_VALUE_TENSOR_LIST:
      return read_list<tdm_tensor*>(value, name, [](tdm_tensor* tensor, const std::string& place) {
        return tensor ? read_tensor(tensor, place) : PtValue();
      });
    case TDM_VALUE_BOOL_LIST:
      return read_list<std::uint8_t>(value, name, [](std::uint8_t flag, const std::string&) { return flag != 0; });
    case TDM_VALUE_INT_LIST:
      return read_list<std::int64_t>(value, name, [](std::int64_t number, const std::string&) { return number; });
    case TDM_VALUE_DOUBLE_LIST:
      return read_list<double>(value, name, [](double number, const std::string&) { return number; });
    case TDM_VALUE_STRING_LIST:
      return read_list<const char*>(value, name, [](const char* text, const std::string& place) {
        return PtValue(not_null(text, place.c_str()));
      });
    case TDM_VALUE_SCALAR_LIST:
    case TDM_VALUE_LIST:
      return PtList{read_elements(value, name, depth)};
    case TDM_VALUE_TUPLE:
      return PtTuple{read_elements(value, name, depth)};
    case TDM_VALUE_DICT:
      return read_dict(value, name, depth);
    default:
      invalid("argument '" + name + "' cannot be " + describe(value) + ": torch.save's files have none");
  }
}

}  // namespace

tdm_value from_pt(const PtValue& value) {
  return make(value, "the value", 0);
}

PtValue to_pt(const tdm_value& value, const std::string& name) {
  return read(value, name, 0);
}

}  // namespace tandem::capi
