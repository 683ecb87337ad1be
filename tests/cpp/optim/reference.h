// What reference.py stored, and options as it writes them.
#pragma once

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tandem/option.h"

namespace tandem::testing {

inline nlohmann::json stored(const std::string& file) {
  std::ifstream stream(std::string(REFERENCE) + "/" + file);
  return nlohmann::json::parse(stream);
}

inline at::IValue value_of(const nlohmann::json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    const bool whole = std::all_of(value.begin(), value.end(), [](const auto& one) { return one.is_number_integer(); });
    return whole ? at::IValue(value.get<std::vector<std::int64_t>>()) : at::IValue(value.get<std::vector<double>>());
  }
  return {};
}

inline std::vector<Option> options_of(const nlohmann::json& options) {
  std::vector<Option> list;
  for (const auto& [name, value] : options.items()) list.push_back({name, value_of(value)});
  return list;
}

}  // namespace tandem::testing
