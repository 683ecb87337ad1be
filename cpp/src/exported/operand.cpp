#include "exported/operand.h"

#include <ATen/ScalarOps.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "exported/types.h"

namespace tandem::exported {
namespace {

c10::TypePtr without_optional(const c10::TypePtr& type) {
  return type && type->kind() == c10::TypeKind::OptionalType ? type->containedType(0) : type;
}

bool is_kind(const c10::TypePtr& type, c10::TypeKind kind) {
  return type && type->kind() == kind;
}

template <typename T, typename Get>
c10::List<T> typed(const std::vector<Operand>& parts, const Frame& frame, const Get& get) {
  c10::List<T> result;
  result.reserve(parts.size());
  for (const Operand& part : parts) result.push_back(get(part.value(frame)));
  return result;
}

std::int64_t to_int(const at::IValue& value) {
  return value.isBool() ? value.toBool() : value.toInt();
}

at::Tensor as_tensor(const at::IValue& number) {
  return at::native::wrapped_scalar_tensor(number.toScalar());
}

double to_double(const at::IValue& value) {
  return value.isInt() ? static_cast<double>(value.toInt()) : value.toDouble();
}

}  // namespace

class Operand::Parser {
 public:
  Parser(c10::TypePtr type, const Names& names, const std::string& where)
      : type_(without_optional(type)), names_(names), where_(where) {}

  Operand parse(const Json& argument) const {
    const auto [kind, content] = one_of(argument, where_);
    if (kind == "as_none") return constant({});
    if (kind == "as_tensor") return slot(text(content, "name", where_));
    if (kind == "as_optional_tensor") return parse(content);
    if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") return symbolic(content);
    if (kind == "as_int" || kind == "as_float" || kind == "as_bool") return number(plain(kind, content));
    if (kind == "as_complex") {
      return number(c10::complex<double>(real(member(content, "real", where_), where_),
                                         real(member(content, "imag", where_), where_)));
    }
    if (kind == "as_string") return constant(text(content, where_));
    if (kind == "as_scalar_type") return constant(static_cast<std::int64_t>(scalar_type(content, where_)));
    if (kind == "as_layout") return constant(static_cast<std::int64_t>(layout(content, where_)));
    if (kind == "as_memory_format") return constant(static_cast<std::int64_t>(memory_format(content, where_)));
    if (kind == "as_device") {
      Operand made = constant(device(content, where_));
      made.kind_ = Kind::kDevice;
      return made;
    }
    return lists(kind, content);
  }

 private:
  Operand slot(const std::string& name) const {
    Operand made;
    made.kind_ = Kind::kSlot;
    made.slot_ = names_.at(name, where_);
    return made;
  }

  at::IValue plain(const std::string& kind, const Json& content) const {
    if (kind == "as_bool") return boolean(content, where_);
    if (kind == "as_float") return real(content, where_);
    return integer(content, where_);
  }

  // A number as the schema has it: an int where it says float is one, one for a tensor is a tensor that changes no
  // dtype, and one for a list of sizes stands for each.
  Operand number(at::IValue value) const {
    if (is_kind(type_, c10::TypeKind::TensorType)) return constant(as_tensor(value));
    if (is_kind(type_, c10::TypeKind::FloatType) && value.isInt()) value = to_double(value);
    if (is_kind(type_, c10::TypeKind::IntType) && value.isBool()) value = to_int(value);
    if (is_kind(type_, c10::TypeKind::BoolType) && value.isInt()) value = value.toInt() != 0;
    return for_list(constant(std::move(value)));
  }

  Operand for_list(Operand one) const {
    if (!is_kind(type_, c10::TypeKind::ListType)) return one;
    return list_of(elements_of(type_, Of::kAny), {std::move(one)});
  }

  Operand symbolic(const Json& content) const {
    const auto [kind, value] = one_of(content, where_);
    if (kind == "as_name") {
      Operand made = slot(text(value, where_));
      made.becomes_tensor_ = is_kind(type_, c10::TypeKind::TensorType);
      return for_list(std::move(made));
    }
    return number(plain(kind, value));
  }

  Operand each(const Json& content, Of otherwise, const std::function<Operand(const Json&)>& make) const {
    std::vector<Operand> parts;
    for (const Json& element : exported::list(content, where_)) parts.push_back(make(element));
    return list_of(elements_of(type_, otherwise), std::move(parts));
  }

  Operand lists(const std::string& kind, const Json& content) const {
    const Parser inner(nullptr, names_, where_);
    const auto numbers = [&](const char* one) {
      return [&inner, kind = std::string(one)](const Json& value) { return constant(inner.plain(kind, value)); };
    };
    const auto tensor = [&](const Json& value) { return slot(text(value, "name", where_)); };
    // Of operators on functions there may be sizes among them.
    if (kind == "as_tensors") return each(content, type_ ? Of::kTensor : Of::kAny, tensor);
    if (kind == "as_optional_tensors") {
      return each(content, Of::kOptionalTensor, [&](const Json& value) { return inner.parse(value); });
    }
    if (kind == "as_ints") return each(content, Of::kInt, numbers("as_int"));
    if (kind == "as_floats") return each(content, Of::kDouble, numbers("as_float"));
    if (kind == "as_bools") return each(content, Of::kBool, numbers("as_bool"));
    if (kind == "as_strings") {
      return each(content, Of::kString, [&](const Json& value) { return constant(text(value, where_)); });
    }
    const auto symbol = [&](const Json& value) { return inner.symbolic(value); };
    if (kind == "as_sym_ints") return each(content, Of::kInt, symbol);
    if (kind == "as_sym_floats") return each(content, Of::kDouble, symbol);
    if (kind == "as_sym_bools") return each(content, Of::kBool, symbol);
    if (kind == "as_nested_tensors") {
      return each(content, Of::kTensorList, [&](const Json& value) { return inner.each(value, Of::kTensor, tensor); });
    }
    if (kind == "as_int_lists") {
      return each(content, Of::kIntList,
                  [&](const Json& value) { return inner.each(value, Of::kInt, numbers("as_int")); });
    }
    unsupported(where_, "takes an argument of the kind '" + kind.substr(0, 100) + "', which is not supported");
  }

  const c10::TypePtr type_;
  const Names& names_;
  const std::string& where_;
};

Operand Operand::parse(const Json& argument, const c10::TypePtr& type, const Names& names, const std::string& where) {
  return Parser(type, names, where).parse(argument);
}

Operand Operand::constant(at::IValue value) {
  Operand made;
  made.value_ = std::move(value);
  return made;
}

// An empty list does not say of what: the schema does.
Operand::Of Operand::elements_of(const c10::TypePtr& type, Of otherwise) {
  if (!is_kind(type, c10::TypeKind::ListType)) return otherwise;
  const c10::TypePtr element = type->containedType(0);
  switch (element->kind()) {
    case c10::TypeKind::TensorType:
      return Of::kTensor;
    case c10::TypeKind::OptionalType:
      return is_kind(element->containedType(0), c10::TypeKind::TensorType) ? Of::kOptionalTensor : otherwise;
    case c10::TypeKind::IntType:
      return Of::kInt;
    case c10::TypeKind::FloatType:
      return Of::kDouble;
    case c10::TypeKind::BoolType:
      return Of::kBool;
    case c10::TypeKind::StringType:
      return Of::kString;
    case c10::TypeKind::NumberType:
      return Of::kScalar;
    default:
      return otherwise;
  }
}

Operand Operand::list_of(Of of, std::vector<Operand> parts) {
  Operand made;
  made.kind_ = Kind::kList;
  made.of_ = of;
  made.parts_ = std::move(parts);
  const bool all_constant =
      std::all_of(made.parts_.begin(), made.parts_.end(), [](const Operand& part) { return part.if_constant(); });
  if (!all_constant) return made;
  const DeviceChange none;
  return constant(made.list({{}, none}));
}

at::IValue Operand::value(const Frame& frame) const {
  switch (kind_) {
    case Kind::kConstant:
      return value_;
    case Kind::kDevice:
      return frame.devices.of(value_.toDevice());
    case Kind::kSlot:
      return becomes_tensor_ ? at::IValue(as_tensor(frame.slots[slot_])) : frame.slots[slot_];
    case Kind::kList:
      return list(frame);
  }
  return {};
}

at::IValue Operand::list(const Frame& frame) const {
  const auto generic = [&](const c10::TypePtr& element) {
    c10::impl::GenericList result(element);
    for (const Operand& part : parts_) result.push_back(part.value(frame));
    return result;
  };
  switch (of_) {
    case Of::kTensor:
      return typed<at::Tensor>(parts_, frame, [](const at::IValue& one) { return one.toTensor(); });
    case Of::kOptionalTensor:
      return typed<std::optional<at::Tensor>>(parts_, frame, [](const at::IValue& one) {
        return one.isNone() ? std::optional<at::Tensor>() : std::optional(one.toTensor());
      });
    case Of::kInt:
      return typed<std::int64_t>(parts_, frame, to_int);
    case Of::kDouble:
      return typed<double>(parts_, frame, to_double);
    case Of::kBool:
      return typed<bool>(parts_, frame, [](const at::IValue& one) { return one.toBool(); });
    case Of::kString:
      return typed<std::string>(parts_, frame, [](const at::IValue& one) { return one.toStringRef(); });
    case Of::kScalar:
      return generic(c10::NumberType::get());
    case Of::kTensorList:
      return generic(c10::ListType::ofTensors());
    case Of::kIntList:
      return generic(c10::ListType::ofInts());
    case Of::kAny:
      return generic(c10::AnyType::get());
  }
  return {};
}

void Operand::add_slots(std::vector<std::size_t>& into) const {
  if (kind_ == Kind::kSlot) into.push_back(slot_);
  for (const Operand& part : parts_) part.add_slots(into);
}

}  // namespace tandem::exported
