#include "jit/arguments.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/jit_type.h>

#include <sstream>
#include <string_view>

#include "tandem/error.h"

namespace tandem::jit {
namespace {

using c10::TypeKind;
using c10::TypePtr;

constexpr int kDeepest = 64;

// Where a value stands in the arguments, for messages; made into text only for those.
struct Place {
  const std::string& argument;
  const Place* around = nullptr;
  std::string index = {};

  std::string text() const { return around ? around->text() + "[" + index + "]" : argument; }
  int depth() const { return around ? 1 + around->depth() : 0; }
};

// "int", "List[Tensor]"; of what nests only the outermost kind, whose elements may be of any.
std::string kind_of(const at::IValue& value) {
  if (value.isNone()) return "None";
  if (value.isTensor()) return "a Tensor";
  if (value.isTuple()) return "a tuple of " + std::to_string(value.toTupleRef().elements().size());
  if (value.isList()) return "a list";
  if (value.isGenericDict()) return "a dict";
  const std::string name = value.type()->repr_str();
  return (name.find_first_of("aeiouAEIOU") == 0 ? "an " : "a ") + name;
}

std::string text_of(const c10::Type& type) {
  std::string text = type.repr_str();
  static constexpr std::string_view kInferred = " (inferred)";  // that nobody wrote
  for (auto at = text.find(kInferred); at != std::string::npos; at = text.find(kInferred))
    text.erase(at, kInferred.size());
  return text;
}

[[noreturn]] void refuse(const Place& place, const TypePtr& type, const at::IValue& value) {
  throw Error(ErrorCode::kInvalidArgument,
              "argument '" + place.text() + "' must be of type " + text_of(*type) + ", and is " + kind_of(value));
}

at::IValue fit(const at::IValue& value, const TypePtr& type, const Place& place);

// What a list, or a tuple that stands for one, has.
c10::ArrayRef<at::IValue> items_of(const at::IValue& value, std::vector<at::IValue>& kept) {
  if (value.isTuple()) return value.toTupleRef().elements();
  for (const at::IValue& item : value.toListRef()) kept.push_back(item);
  return kept;
}

at::IValue fit_list(const at::IValue& value, const TypePtr& type, const Place& place) {
  if (!value.isList() && !value.isTuple()) refuse(place, type, value);
  std::vector<at::IValue> kept;
  const TypePtr element = type->containedType(0);
  c10::impl::GenericList list(element);
  std::size_t i = 0;
  for (const at::IValue& item : items_of(value, kept)) {
    list.push_back(fit(item, element, Place{place.argument, &place, std::to_string(i++)}));
  }
  return list;
}

at::IValue fit_tuple(const at::IValue& value, const TypePtr& type, const Place& place) {
  if (!value.isList() && !value.isTuple()) refuse(place, type, value);
  std::vector<at::IValue> kept;
  const auto items = items_of(value, kept);
  const auto tuple = type->expect<c10::TupleType>();
  if (items.size() != tuple->elements().size()) refuse(place, type, value);
  std::vector<at::IValue> elements;
  for (std::size_t i = 0; i < items.size(); ++i) {
    elements.push_back(fit(items[i], tuple->elements()[i], Place{place.argument, &place, std::to_string(i)}));
  }
  if (tuple->schema()) return c10::ivalue::Tuple::createNamed(std::move(elements), tuple);
  return c10::ivalue::Tuple::create(std::move(elements));
}

at::IValue fit_dict(const at::IValue& value, const TypePtr& type, const Place& place) {
  if (!value.isGenericDict()) refuse(place, type, value);
  const TypePtr key_type = type->containedType(0), value_type = type->containedType(1);
  c10::impl::GenericDict dict(key_type, value_type);
  for (const auto& item : value.toGenericDict()) {
    std::ostringstream key;
    key << item.key();
    const Place inner{place.argument, &place, key.str()};
    dict.insert(fit(item.key(), key_type, inner), fit(item.value(), value_type, inner));
  }
  return dict;
}

// The first of a union's types that it is, or fits.
at::IValue fit_union(const at::IValue& value, const TypePtr& type, const Place& place) {
  const auto types = type->containedTypes();
  for (const TypePtr& one : types) {
    if (value.type()->isSubtypeOf(*one)) return value;
  }
  for (const TypePtr& one : types) {
    try {
      return fit(value, one, place);
    } catch (const Error&) {
    }
  }
  refuse(place, type, value);
}

at::IValue fit(const at::IValue& value, const TypePtr& type, const Place& place) {
  if (place.depth() > kDeepest) refuse(place, type, value);
  switch (type->kind()) {
    case TypeKind::TensorType:
      if (value.isTensor()) return value;
      break;
    case TypeKind::FloatType:
      if (value.isDouble()) return value;
      if (value.isInt()) return static_cast<double>(value.toInt());
      break;
    case TypeKind::ComplexType:
      if (value.isComplexDouble()) return value;
      if (value.isDouble()) return c10::complex<double>(value.toDouble(), 0);
      if (value.isInt()) return c10::complex<double>(static_cast<double>(value.toInt()), 0);
      break;
    case TypeKind::NumberType:
      if (value.isScalar()) return value;
      break;
    case TypeKind::DeviceObjType:
      if (value.isDevice()) return value;
      break;
    case TypeKind::OptionalType:
      return value.isNone() ? value : fit(value, type->expectRef<c10::OptionalType>().getElementType(), place);
    case TypeKind::UnionType:
      return fit_union(value, type, place);
    case TypeKind::ListType:
      return fit_list(value, type, place);
    case TypeKind::TupleType:
      return fit_tuple(value, type, place);
    case TypeKind::DictType:
      return fit_dict(value, type, place);
    default:  // int, bool, str, None, Any, and classes
      if (value.type()->isSubtypeOf(*type)) return value;
  }
  refuse(place, type, value);
}

}  // namespace

std::string described(const std::string& method, const c10::FunctionSchema& schema, std::size_t first) {
  std::ostringstream text;
  text << method << "(";
  for (std::size_t i = first; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    text << (i > first ? ", " : "") << argument.name() << ": " << text_of(*argument.type());
    if (argument.default_value()) text << " = " << *argument.default_value();
  }
  text << ")";
  for (const c10::Argument& result : schema.returns()) text << " -> " << text_of(*result.type());
  return text.str();
}

std::vector<at::IValue> fit_arguments(const std::string& method, const c10::FunctionSchema& schema,
                                      std::vector<at::IValue> arguments, std::size_t first) {
  try {
    const std::size_t takes = schema.arguments().size() - first;
    if (arguments.size() > takes) {
      throw Error(ErrorCode::kInvalidArgument, "takes at most " + std::to_string(takes) + " arguments, and " +
                                                   std::to_string(arguments.size()) + " were given");
    }
    for (std::size_t i = 0; i < takes; ++i) {
      const c10::Argument& argument = schema.arguments()[i + first];
      if (i < arguments.size()) {
        arguments[i] = fit(arguments[i], argument.type(), Place{argument.name()});
      } else if (argument.default_value()) {
        arguments.push_back(*argument.default_value());
      } else {
        throw Error(ErrorCode::kInvalidArgument, "argument '" + argument.name() + "' is missing");
      }
    }
  } catch (const Error& error) {
    throw Error(error.code(), method + ": " + error.what() + ": " + described(method, schema, first));
  }
  return arguments;
}

}  // namespace tandem::jit
