// What reference_functions.py stored, and the tensors that both sides make by the same formula.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/test_device.h"

namespace tandem::testing {

inline nlohmann::json stored(const std::string& file) {
  std::ifstream stream(std::string(REFERENCE) + "/" + file);
  return nlohmann::json::parse(stream);
}

inline at::Tensor formula(const std::vector<std::int64_t>& sizes, std::int64_t start, bool positive = false) {
  const at::Tensor made = at::empty(sizes, at::kDouble);
  auto* values = made.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < made.numel(); ++i) {
    const double value = static_cast<double>((i * 7 + start * 5) % 23 - 11) / 8;
    values[i] = positive ? std::abs(value) + 0.5 : value;
  }
  return on_device(made);
}

inline at::Tensor tensor_of(const nlohmann::json& given) {
  static const std::map<std::string, at::ScalarType> dtypes = {
      {"double", at::kDouble}, {"float", at::kFloat}, {"long", at::kLong}, {"bool", at::kBool}};
  const auto sizes = given.at("sizes").get<std::vector<std::int64_t>>();
  const at::Tensor values = given.contains("values")
                                ? at::tensor(given["values"].get<std::vector<double>>(), at::kDouble).view(sizes)
                                : formula(sizes, given.at("start"), given.value("positive", false));
  at::Tensor made = on_device(values.to(dtypes.at(given.at("dtype"))));
  if (given.contains("grad")) made.mutable_grad() = formula(sizes, given["grad"]).to(made.scalar_type());
  return made;
}

// "" where `found` is what was stored, else what differs. Differences are relative to the largest number of both.
inline std::string difference(const nlohmann::json& expected, const at::Tensor& found, double tolerance) {
  if (expected.is_null() || !found.defined()) {
    return expected.is_null() == !found.defined() ? "" : expected.is_null() ? "is none in Python" : "is undefined";
  }
  const auto sizes = expected.at("sizes").get<std::vector<std::int64_t>>();
  if (found.sizes() != at::IntArrayRef(sizes)) return "has sizes " + c10::str(found.sizes());
  const at::Tensor values = at::tensor(expected.at("values").get<std::vector<double>>(), at::kDouble).view(sizes);
  const at::Tensor here = found.detach().to(at::kDouble).cpu();
  if (values.numel() == 0 || values.equal(here)) return "";
  const double off = (values - here).abs().max().item<double>();
  const double scale = std::max(1.0, values.abs().max().item<double>());
  return off <= tolerance * scale ? "" : "differs by " + std::to_string(off) + ":\n" + c10::str(here);
}

}  // namespace tandem::testing
