#include "exported/json_fields.h"

#include <limits>

namespace tandem::exported {

const Json* find(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

const Json& member(const Json& object, const char* name, const std::string& where) {
  const Json* found = find(object, name);
  if (!found) damaged(where, std::string("has no '") + name + "'");
  return *found;
}

const Json& list(const Json& value, const std::string& where) {
  if (!value.is_array()) damaged(where, std::string("has ") + value.type_name() + " in the place of a list");
  return value;
}

const Json& list(const Json& object, const char* name, const std::string& where) {
  return list(member(object, name, where), where + ": " + name);
}

const Json& object(const Json& object, const char* name, const std::string& where) {
  const Json& value = member(object, name, where);
  if (!value.is_object()) damaged(where + ": " + name, "is no object");
  return value;
}

const std::string& text(const Json& value, const std::string& where) {
  if (!value.is_string()) damaged(where, std::string("has ") + value.type_name() + " in the place of a text");
  return value.get_ref<const std::string&>();
}

const std::string& text(const Json& object, const char* name, const std::string& where) {
  return text(member(object, name, where), where + ": " + name);
}

std::int64_t integer(const Json& value, const std::string& where) {
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() ||
                     value.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()});
  if (!fits) damaged(where, "has " + value.dump().substr(0, 40) + " in the place of an integer of 64 bits");
  return value.get<std::int64_t>();
}

bool boolean(const Json& value, const std::string& where) {
  if (!value.is_boolean()) damaged(where, std::string("has ") + value.type_name() + " in the place of true or false");
  return value.get<bool>();
}

double real(const Json& value, const std::string& where) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) {
    if (value == "Infinity") return std::numeric_limits<double>::infinity();
    if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  }
  damaged(where, std::string("has ") + value.type_name() + " in the place of a number");
}

std::pair<const std::string&, const Json&> one_of(const Json& value, const std::string& where) {
  if (!value.is_object() || value.size() != 1) damaged(where, "has a value that is not of one kind");
  const auto& [kind, content] = value.get_ref<const Json::object_t&>().front();
  return {kind, content};
}

std::string name_in_graph(const Json& argument, const std::string& where) {
  const auto [kind, content] = one_of(argument, where);
  if (kind == "as_tensor") return text(content, "name", where);
  if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") {
    const auto [known, value] = one_of(content, where);
    return known == "as_name" ? text(value, where) : "";
  }
  if (kind == "as_custom_obj") unsupported(where, "takes a TorchBind object, which only Python's program has");
  return "";
}

}  // namespace tandem::exported
