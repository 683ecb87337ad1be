#include "elastic/session/ivalue_json.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tandem/error.h"

namespace tandem::elastic {
namespace {

using Json = nlohmann::ordered_json;
using c10::IValue;

// JSON has no infinity, which schedulers begin with.
std::string hexadecimal(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}

Json tagged(const char* tag, Json content) {
  Json json = Json::object();
  json[tag] = std::move(content);
  return json;
}

Json elements_of(c10::ArrayRef<IValue> values) {
  Json json = Json::array();
  for (const IValue& each : values) json.push_back(to_json(each));
  return json;
}

[[noreturn]] void damaged() { throw Error(ErrorCode::kDataLoss, "a setting in a commit is of no known form"); }

c10::impl::GenericList list_of(std::vector<IValue> values) {
  c10::TypePtr type = c10::AnyType::get();
  if (!values.empty()) {
    const bool alike = std::all_of(values.begin(), values.end(),
                                   [&](const IValue& each) { return each.tagKind() == values.front().tagKind(); });
    if (alike) type = values.front().type();
  }
  c10::impl::GenericList list(type);
  for (IValue& each : values) list.push_back(std::move(each));
  return list;
}

}  // namespace

Json to_json(const IValue& value) {
  if (value.isNone()) return nullptr;
  if (value.isBool()) return value.toBool();
  if (value.isInt()) return value.toInt();
  if (value.isDouble()) return tagged("double", hexadecimal(value.toDouble()));
  if (value.isString()) return value.toStringRef();
  if (value.isList()) return elements_of(value.toListRef());
  if (value.isTuple()) return tagged("tuple", elements_of(value.toTupleRef().elements()));
  if (value.isGenericDict()) {
    Json json = Json::array();
    for (const auto& item : value.toGenericDict()) json.push_back({to_json(item.key()), to_json(item.value())});
    return tagged("dict", std::move(json));
  }
  throw Error(ErrorCode::kUnsupported, "a setting of the type " + value.tagKind() + " cannot be part of a commit");
}

IValue from_json(const Json& json) {
  if (json.is_null()) return IValue();
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_string()) return json.get<std::string>();
  std::vector<IValue> values;
  if (json.is_array()) {
    for (const Json& each : json) values.push_back(from_json(each));
    return list_of(std::move(values));
  }
  if (!json.is_object() || json.size() != 1) damaged();
  const std::string& tag = json.begin().key();
  const Json& content = json.begin().value();
  if (tag == "double" && content.is_string()) {
    const auto& text = content.get_ref<const std::string&>();
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (text.empty() || *end) damaged();
    return number;
  }
  if (!content.is_array()) damaged();
  if (tag == "tuple") {
    for (const Json& each : content) values.push_back(from_json(each));
    return c10::ivalue::Tuple::create(std::move(values));
  }
  if (tag != "dict") damaged();
  const bool by_number = !content.empty() && content.front().is_array() && !content.front().empty() &&
                         content.front().front().is_number_integer();
  c10::impl::GenericDict dict(by_number ? c10::TypePtr(c10::IntType::get()) : c10::TypePtr(c10::StringType::get()),
                              c10::AnyType::get());
  for (const Json& item : content) {
    if (!item.is_array() || item.size() != 2 || item[0].is_number_integer() != by_number ||
        item[0].is_string() == by_number) {
      damaged();
    }
    dict.insert_or_assign(from_json(item[0]), from_json(item[1]));
  }
  return dict;
}

}  // namespace tandem::elastic
