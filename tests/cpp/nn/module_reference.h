// Modules as reference_functions.py makes them.
#pragma once

#include <algorithm>
#include <map>
#include <memory>

#include "reference.h"
#include "tandem/nn.h"

namespace tandem::testing {

inline at::IValue option_of(const nlohmann::json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  return {};
}

inline std::vector<Option> options_of(const nlohmann::json& options) {
  std::vector<Option> list;
  for (const auto& [name, value] : options.items()) list.push_back({name, option_of(value)});
  return list;
}

// In double, with parameters of the formula: start is the place of the name among all, sorted.
inline std::unique_ptr<nn::Module> made(const std::string& type, const std::vector<Option>& options) {
  auto module = nn::make_module(type, options);
  module->to(test_device(), at::kDouble);
  std::map<std::string, at::Tensor> sorted;
  for (const auto& one : module->get().named_parameters()) sorted[one.key()] = one.value();
  const at::NoGradGuard no_grad;
  std::int64_t start = 0;
  for (const auto& [name, tensor] : sorted) tensor.copy_(formula(tensor.sizes().vec(), start++) / 4);
  return module;
}

}  // namespace tandem::testing
