// What reference.py stored, and the values that both sides make by the same formula.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/test_device.h"
#include "tandem/nn.h"

namespace tandem::testing {

inline nlohmann::json stored(const std::string& file) {
  return nlohmann::json::parse(std::ifstream(std::string(REFERENCE) + "/" + file));
}

inline std::vector<Option> options_of(const nlohmann::json& given) {
  std::vector<Option> options;
  for (const auto& [name, value] : given.items()) {
    if (value.is_boolean()) {
      options.push_back({name, value.get<bool>()});
    } else if (value.is_number_integer()) {
      options.push_back({name, value.get<std::int64_t>()});
    } else if (value.is_number()) {
      options.push_back({name, value.get<double>()});
    } else {
      options.push_back({name, value.get<std::string>()});
    }
  }
  return options;
}

// Numbers from -1/2 to 1/2 that look like random ones.
inline at::Tensor mixed(std::int64_t count, std::int64_t place) {
  const at::Tensor i = at::arange(count, at::kLong);
  return (i * i * 31 + i * 7919 + place * 104729).remainder(100003).to(at::kDouble) / 100003 - 0.5;
}

inline void fill(const torch::nn::Module& module) {
  const at::NoGradGuard no_grad;
  std::int64_t place = 0;
  for (const auto& item : module.named_parameters()) {
    at::Tensor values = mixed(item.value().numel(), place++);
    if (item.value().dim() > 1) {
      values = values * (4.9 / std::sqrt(static_cast<double>(item.value().numel() / item.value().size(0))));
    } else if (item.key().ends_with("weight")) {
      values = values + 1;
    }
    item.value().copy_(values.view(item.value().sizes()));
  }
}

inline at::Tensor projection(const at::Tensor& t) {
  const at::Tensor flat = t.cpu().to(at::kDouble).reshape(-1);
  return (flat * at::cos(at::arange(flat.numel(), at::kDouble) * 0.3)).sum();
}

// "name" and sizes of parameters, then of buffers.
inline std::vector<std::pair<std::string, std::vector<std::int64_t>>> names_and_sizes(const torch::nn::Module& module) {
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> all;
  for (const auto& item : module.named_parameters()) all.emplace_back(item.key(), item.value().sizes().vec());
  for (const auto& item : module.named_buffers()) all.emplace_back(item.key(), item.value().sizes().vec());
  return all;
}

// The arguments of a forward, and what its output is multiplied with so that padding does not matter.
struct NetworkInput {
  std::vector<at::IValue> arguments;
  at::Tensor matters;
};

inline NetworkInput input_of(const nlohmann::json& one) {
  const nlohmann::json& spec = one.at("input");
  if (spec.contains("image")) {
    const auto sizes = spec["image"].get<std::vector<std::int64_t>>();
    return {{on_device((mixed(c10::multiply_integers(sizes), 5) * 2).view(sizes))}, on_device(at::ones({}, at::kDouble))};
  }
  const auto rows = spec["ids"][0].get<std::int64_t>(), length = spec["ids"][1].get<std::int64_t>();
  const at::Tensor i = at::arange(rows * length, at::kLong);
  const at::Tensor ids = on_device(
      (i * i * 5 + i * 7 + 3).remainder(one.at("options").at("vocab_size").get<std::int64_t>()).view({rows, length}));
  if (!spec.contains("padding")) return {{ids}, on_device(at::ones({}, at::kDouble))};
  const at::Tensor padding = on_device(torch::tensor(spec["padding"].get<std::vector<std::int64_t>>()).unsqueeze(1));
  const at::Tensor mask = on_device(at::arange(length, at::kLong)).ge(padding).to(at::kLong);
  return {{ids, mask, (mask.cumsum(1) - 1).clamp_min(0)}, mask.unsqueeze(2).to(at::kDouble)};
}

// A case's network in double, with values of the formula.
inline std::unique_ptr<nn::Module> network_of(const nlohmann::json& one) {
  auto module = nn::make_module(one.at("type"), options_of(one.at("options")));
  module->to(test_device(), at::kDouble);
  fill(module->get());
  return module;
}

}  // namespace tandem::testing
