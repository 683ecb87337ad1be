#include "data/json_options.h"

#include <cmath>

#include "base/invalid.h"
#include "base/json_depth.h"
#include "tandem/error.h"

namespace tandem::options {
Json parse_json(std::string_view text, const std::string& what) {
  // The parser keeps the last of two equal keys, which would hide a mistake.
  std::vector<std::set<std::string>> keys;
  std::string repeated;
  const auto note_keys = [&](int depth, Json::parse_event_t event, Json& value) {
    check_json_depth(depth, event);
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      repeated = value.get<std::string>();
    }
    return true;
  };
  Json json;
  try {
    json = Json::parse(text.begin(), text.end(), note_keys, /*allow_exceptions=*/false);
  } catch (const JsonTooDeep&) {
    invalid(what + " is nested more than " + std::to_string(kDeepestJson) + " deep");
  }
  if (json.is_discarded()) invalid(what + " is no JSON");
  if (!repeated.empty()) invalid(what + " has the key '" + repeated + "' twice in one object");
  return json;
}

Object::Object(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
  if (!json.is_object()) invalid(where_ + " is no JSON object");
}

void Object::refuse(const char* key, const std::string& wanted) const {
  invalid(where_ + ": " + key + " is " + json_[key].dump(-1, ' ', false, Json::error_handler_t::replace) +
          ", but has to be " + wanted);
}

const Json* Object::find(const char* key) {
  known_.insert(key);
  const auto found = json_.find(key);
  return found == json_.end() ? nullptr : &*found;
}

const Json& Object::require(const char* key) {
  const Json* const value = find(key);
  if (!value) invalid(where_ + " has no " + key);
  return *value;
}

std::int64_t Object::integer(const char* key, std::int64_t otherwise) {
  const Json* const value = find(key);
  if (!value) return otherwise;
  if (!value->is_number_integer() || (value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX)) {
    refuse(key, "an integer");
  }
  return value->get<std::int64_t>();
}

std::uint64_t Object::natural(const char* key, std::uint64_t otherwise) {
  const Json* const value = find(key);
  if (!value) return otherwise;
  if (!value->is_number_unsigned()) refuse(key, "an integer that is not negative");
  return value->get<std::uint64_t>();
}

double Object::number(const char* key, double otherwise) {
  const Json* const value = find(key);
  if (!value) return otherwise;
  if (!value->is_number()) refuse(key, "a number");
  return value->get<double>();
}

bool Object::boolean(const char* key, bool otherwise) {
  const Json* const value = find(key);
  if (!value) return otherwise;
  if (!value->is_boolean()) refuse(key, "true or false");
  return value->get<bool>();
}

std::array<double, 2> Object::range(const char* key, std::array<double, 2> otherwise) {
  const Json* const value = find(key);
  if (!value) return otherwise;
  if (!value->is_array() || value->size() != 2 || !(*value)[0].is_number() || !(*value)[1].is_number()) {
    refuse(key, "two numbers, from and to");
  }
  return {(*value)[0].get<double>(), (*value)[1].get<double>()};
}

std::vector<double> Object::numbers(const char* key) {
  const Json& value = require(key);
  std::vector<double> result;
  if (!value.is_array()) refuse(key, "a list of numbers");
  for (const Json& one : value) {
    if (!one.is_number()) refuse(key, "a list of numbers");
    result.push_back(one.get<double>());
  }
  return result;
}

std::vector<std::string> Object::strings(const char* key) {
  const Json& value = require(key);
  std::vector<std::string> result;
  if (!value.is_array()) refuse(key, "a list of texts");
  for (const Json& one : value) {
    if (!one.is_string()) refuse(key, "a list of texts");
    result.push_back(one.get<std::string>());
  }
  return result;
}

std::size_t Object::choice(const char* key, const std::vector<std::string>& choices, std::size_t otherwise) {
  const Json* const value = find(key);
  if (!value) return otherwise;
  std::string list;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (*value == choices[i]) return i;
    list += (i ? ", " : "") + choices[i];
  }
  refuse(key, "one of " + list);
}

void Object::finish() const {
  for (const auto& [key, value] : json_.items()) {
    if (!known_.count(key)) invalid(where_ + " has the unknown key '" + key + "'");
  }
}

}  // namespace tandem::options
