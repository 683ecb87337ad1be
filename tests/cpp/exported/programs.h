// The archives of models.py, their inputs, and what Python made of them.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/test_device.h"
#include "tandem/exported_program.h"

namespace tandem::testing {

using Values = std::vector<at::IValue>;

inline std::string archive(const std::string& name) {
  return std::string(EXPORTED_FILES) + "/files/" + name + ".pt2";
}

inline const nlohmann::json& references() {
  static const nlohmann::json loaded = [] {
    std::ifstream file(std::string(EXPORTED_FILES) + "/references.json");
    return nlohmann::json::parse(file);
  }();
  return loaded;
}

// models.py's pattern() and classes().
inline at::Tensor pattern(at::IntArrayRef shape, std::int64_t seed) {
  const std::int64_t count = c10::multiply_integers(shape);
  const at::Tensor hashed =
      (torch::arange(count, at::kLong) * 2654435761 + (seed * 40503 + 12345)).remainder(std::int64_t{1} << 32);
  return (hashed.to(at::kDouble) / 4294967296.0 - 0.5).reshape(shape);
}
inline at::Tensor classes(at::IntArrayRef shape, std::int64_t seed, std::int64_t most) {
  const std::int64_t count = c10::multiply_integers(shape);
  return ((torch::arange(count, at::kLong) * 7919 + seed * 104729).remainder(most)).reshape(shape);
}

inline at::IValue tuple(Values elements) {
  return c10::ivalue::Tuple::create(std::move(elements));
}
inline at::IValue dict(const std::vector<std::pair<std::string, at::IValue>>& items) {
  c10::impl::GenericDict made(c10::StringType::get(), c10::AnyType::get());
  for (const auto& [key, value] : items) made.insert(key, value);
  return made;
}

// What the programs were exported with.
inline Values example(const std::string& name) {
  if (name == "mlp") return {pattern({4, 6}, 1)};
  if (name == "custom") return {pattern({4, 3}, 1)};
  if (name == "cnn") return {pattern({4, 1, 8, 8}, 1)};
  if (name == "lstm") return {pattern({3, 5, 5}, 1)};
  if (name == "transformer") return {classes({2, 6}, 3, 11), torch::zeros({2, 6}, at::kBool)};
  if (name == "resnet18") return {pattern({4, 3, 64, 64}, 1)};
  if (name == "decoder") return {classes({2, 5}, 1, 13)};
  if (name == "regions") {
    return {pattern({4, 3}, 1), 3, "sum",
            dict({{"weights", tuple({pattern({3, 3}, 4)})}, {"factor", pattern({1}, 5)}})};
  }
  if (name == "functional") return {pattern({4, 3}, 1), pattern({4, 3}, 2)};
  if (name == "sizes") return {pattern({16}, 1), pattern({8}, 2), 3};
  ADD_FAILURE() << "no program is called " << name;
  return {};
}

inline Values batch_of(const std::string& name, int rank, int step) {
  const std::int64_t seed = 1000 + 10 * step + rank;
  if (name == "transformer") {
    at::Tensor padding = torch::zeros({2, 7}, at::kBool);
    padding[1].slice(0, 5).fill_(true);
    return {classes({2, 7}, seed, 11), padding};
  }
  if (name == "decoder") return {classes({2, 6}, seed, 13)};
  if (name == "mlp") return {pattern({3, 6}, seed)};
  if (name == "cnn") return {pattern({3, 1, 8, 8}, seed)};
  if (name == "lstm") return {pattern({2, 5, 5}, seed)};
  return {pattern({4, 3, 64, 64}, seed)};
}

inline void add_leaves(const at::IValue& value, Values& into) {
  if (value.isTuple()) {
    for (const at::IValue& element : value.toTupleRef().elements()) add_leaves(element, into);
  } else if (value.isGenericDict()) {
    for (const auto& item : value.toGenericDict()) add_leaves(item.value(), into);
  } else if (value.isList()) {
    for (const at::IValue& element : value.toListRef()) add_leaves(element, into);
  } else {
    into.push_back(value);
  }
}
inline Values leaves(const Values& values) {
  Values found;
  for (const at::IValue& value : values) add_leaves(value, found);
  return found;
}

// models.py's digest(): the shape, and three sums of its numbers.
inline void expect_digest(const at::Tensor& tensor, const nlohmann::json& digest, double tolerance,
                          const std::string& what) {
  EXPECT_EQ(tensor.sizes().vec(), digest[0].get<std::vector<std::int64_t>>()) << what;
  const at::Tensor flat = tensor.detach().cpu().to(at::kDouble).flatten();
  const double scale = std::max(1.0, flat.abs().sum().item<double>());
  const std::vector<double> sums = {flat.sum().item<double>(), (flat * pattern(flat.sizes(), 99)).sum().item<double>(),
                                    flat.abs().sum().item<double>()};
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(sums[i], digest[i + 1].get<double>(), tolerance * scale) << what << ", sum " << i;
  }
}

inline void expect_values(const Values& given, const nlohmann::json& wanted, const std::string& what) {
  const Values found = leaves(given);
  ASSERT_EQ(found.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string here = what + ", output " + std::to_string(i);
    if (wanted[i].contains("tensor")) {
      ASSERT_TRUE(found[i].isTensor()) << here;
      const bool low = found[i].toTensor().scalar_type() == at::kBFloat16;
      expect_digest(found[i].toTensor(), wanted[i]["tensor"], low ? 1e-2 : 1e-12, here);
    } else if (wanted[i]["value"].is_null()) {
      EXPECT_TRUE(found[i].isNone()) << here;
    } else {
      EXPECT_DOUBLE_EQ(found[i].toScalar().toDouble(), wanted[i]["value"].get<double>()) << here;
    }
  }
}

// The state with all names, as Python's state_dict() has it.
inline std::map<std::string, at::Tensor> state_of(const ExportedProgram& program) {
  std::map<std::string, at::Tensor> state;
  for (const auto& item : program.get().named_parameters()) state[item.key()] = item.value();
  for (const auto& item : program.get().named_buffers()) state[item.key()] = item.value();
  for (const auto& [name, first] : program.tied()) state[name] = state.at(first);
  return state;
}

}  // namespace tandem::testing
