// Every module of the registry against Python's torch.nn, as reference.py stored it.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cctype>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "support/test_device.h"
#include "tandem/nn.h"

namespace tandem::testing::nn_reference_test {
namespace {

using nlohmann::json;

const json& cases() {
  static const json all = json::parse(std::ifstream(std::string(REFERENCE) + "/modules.json"));
  return all;
}

double wave(std::int64_t i, double j) {
  return std::sin(0.7 * static_cast<double>(i) + 1.3 * j + 0.5);
}

// As in reference.py.
double element(const std::string& kind, std::int64_t i, double j) {
  if (kind == "real" || kind == "fixed") return 1.5 * wave(i, j);
  if (kind == "positive") return 0.2 + std::abs(wave(i, j));
  if (kind == "part") return 0.5 + 0.4 * wave(i, j);
  const auto sum = i + static_cast<std::int64_t>(j);
  return kind == "sign" ? (sum % 3 == 0 ? -1 : 1) : (sum % 4 == 3 ? 1 : 0);
}

at::Tensor integers(const json& numbers) {
  if (!numbers.at(0).is_array()) return torch::tensor(numbers.get<std::vector<std::int64_t>>());
  std::vector<at::Tensor> rows;
  for (const json& row : numbers) rows.push_back(integers(row));
  return at::stack(rows);
}

at::Tensor tensor(const json& spec, double place) {
  if (spec.contains("numbers")) return integers(spec["numbers"]);
  if (spec.contains("causal")) {
    const auto length = spec["causal"].get<std::int64_t>();
    return at::ones({length, length}).triu(1).to(at::kBool);
  }
  if (spec.contains("whole")) {
    const auto shape = spec["whole"].get<std::vector<std::int64_t>>();
    const at::Tensor made = at::empty(shape, at::kLong);
    const auto below = spec["below"].get<std::int64_t>(), j = static_cast<std::int64_t>(place);
    auto* data = made.data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < made.numel(); ++i) data[i] = (5 * i + 3 * j + i * i % 7) % below;
    return made;
  }
  const std::string kind = spec.begin().key();
  const at::Tensor made = at::empty(spec[kind].get<std::vector<std::int64_t>>(), at::kDouble);
  auto* data = made.data_ptr<double>();
  for (std::int64_t i = 0; i < made.numel(); ++i) data[i] = element(kind, i, place);
  return kind == "flags" ? made.to(at::kBool) : made;
}

at::IValue value(const json& spec, double place, std::vector<at::Tensor>& leaves) {
  if (spec.is_null()) return {};
  if (spec.is_boolean()) return spec.get<bool>();
  if (spec.is_array()) return spec.get<std::vector<std::int64_t>>();
  if (spec.contains("tuple")) {
    std::vector<at::IValue> parts;
    for (std::size_t k = 0; k < spec["tuple"].size(); ++k) {
      parts.push_back(value(spec["tuple"][k], place + 0.1 * static_cast<double>(k + 1), leaves));
    }
    return c10::ivalue::Tuple::create(parts);
  }
  if (spec.contains("indices")) {
    const auto pool = nn::make_module(spec["indices"], {{"kernel_size", 2}, {"return_indices", true}});
    return pool->forward({on_device(tensor({{"real", spec["shape"]}}, 0))})[1];
  }
  const at::Tensor made = on_device(tensor(spec, place));
  if (made.is_floating_point() && !spec.contains("fixed") && !spec.contains("sign"))
    leaves.push_back(made.requires_grad_());
  return made;
}

at::IValue option(const json& given) {
  if (given.is_null()) return {};
  if (given.is_boolean()) return given.get<bool>();
  if (given.is_number_integer()) return given.get<std::int64_t>();
  if (given.is_number()) return given.get<double>();
  if (given.is_string()) return given.get<std::string>();
  if (given.is_object()) return torch::tensor(given["tensor"].get<std::vector<float>>());
  if (std::all_of(given.begin(), given.end(), [](const json& one) { return one.is_number_integer(); })) {
    return given.get<std::vector<std::int64_t>>();
  }
  return given.get<std::vector<double>>();
}

std::unique_ptr<nn::Module> make(const json& one) {
  std::vector<Option> options;
  for (const auto& [name, given] : one["options"].items()) options.push_back({name, option(given)});
  return nn::make_module(one["type"], options);
}

void fill(torch::nn::Module& module) {
  double k = 0;
  for (const at::Tensor& parameter : module.parameters()) {
    const at::Tensor values = at::empty(parameter.sizes(), at::kDouble);
    auto* data = values.data_ptr<double>();
    for (std::int64_t i = 0; i < values.numel(); ++i)
      data[i] = 0.4 * std::sin(0.9 * static_cast<double>(i) + 0.4 * k + 0.2);
    torch::NoGradGuard no_grad;
    parameter.copy_(values);
    ++k;
  }
}

at::Tensor cosines(std::int64_t count) {
  const at::Tensor all = at::empty({count}, at::kDouble);
  for (std::int64_t i = 0; i < count; ++i) all.data_ptr<double>()[i] = std::cos(0.3 * static_cast<double>(i));
  return all;
}

at::Tensor projection(const at::Tensor& tensor) {
  return (tensor.cpu().to(at::kDouble).reshape(-1) * cosines(tensor.numel())).sum();
}

// On a GPU LibTorch takes 1/6 of hardswish and hardsigmoid as float.
double tolerance_of(const json& one) {
  return wants_gpu() && one["type"].get<std::string>().starts_with("Hards") ? 1e-6 : 1e-9;
}

void expect_near(const at::Tensor& ours, const json& theirs, double tolerance, const std::string& what) {
  ASSERT_NE(ours.defined(), theirs.is_null()) << what;
  if (!ours.defined()) return;
  const double wanted = theirs.get<double>(), found = projection(ours.detach()).item<double>();
  EXPECT_NEAR(found, wanted, tolerance * std::max(1.0, std::abs(wanted))) << what;
}

void spread(const at::IValue& result, std::vector<at::Tensor>& all) {
  if (result.isTuple()) {
    for (const at::IValue& one : result.toTupleRef().elements()) spread(one, all);
  } else if (result.toTensor().defined()) {
    all.push_back(result.toTensor());
  }
}

// Python's seed 0 and ours give the same parameters.
void expect_drawn(const json& one, const torch::nn::Module& module) {
  for (const auto& item : module.named_parameters()) {
    SCOPED_TRACE(item.key());
    auto wanted = one["drawn"][item.key()].get<std::vector<double>>();
    const at::Tensor flat = item.value().detach().reshape(-1);
    for (std::size_t i = 0; i + 1 < wanted.size(); ++i) {
      EXPECT_FLOAT_EQ(flat[static_cast<std::int64_t>(i)].item<float>(), static_cast<float>(wanted[i]));
    }
    EXPECT_NEAR(flat.to(at::kDouble).sum().item<double>(), wanted.back(), 1e-5);
  }
}

void agrees(const json& one) {
  const double tolerance = tolerance_of(one);
  torch::manual_seed(0);
  const auto module = make(one);
  const auto names = module->get().named_parameters();
  ASSERT_EQ(names.size(), one["parameters"].size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    ASSERT_EQ(names[i].key(), one["parameters"][i][0].get<std::string>());
    ASSERT_EQ(names[i].value().sizes().vec(), one["parameters"][i][1].get<std::vector<std::int64_t>>());
  }
  expect_drawn(one, module->get());
  module->to(test_device(), at::kDouble);
  fill(module->get());
  module->get().train(one["mode"] == "train");
  // What is computed with is a clone: those of modules made of others are made anew.
  const auto clone = module->clone();
  std::vector<at::Tensor> leaves;
  std::vector<at::IValue> arguments;
  for (std::size_t place = 0; place < one["arguments"].size(); ++place) {
    arguments.push_back(value(one["arguments"][place], static_cast<double>(place), leaves));
  }
  torch::manual_seed(1);
  std::vector<at::Tensor> results;
  for (const at::IValue& result : clone->forward(arguments)) spread(result, results);
  ASSERT_EQ(results.size(), one["results"].size());
  at::Tensor loss = at::zeros({}, at::kDouble);
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].sizes().vec(), one["results"][i][0].get<std::vector<std::int64_t>>());
    expect_near(results[i], one["results"][i][1], tolerance, "result " + std::to_string(i));
    if (results[i].requires_grad()) loss = loss + projection(results[i]);
  }
  const auto buffers = clone->get().named_buffers();
  ASSERT_EQ(buffers.size(), one["buffers"].size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(buffers[i].key(), one["buffers"][i][0].get<std::string>());
    expect_near(buffers[i].value(), one["buffers"][i][2], tolerance, buffers[i].key());
  }
  if (loss.requires_grad()) loss.backward();
  for (const at::Tensor& parameter : clone->get().parameters()) leaves.push_back(parameter);
  ASSERT_EQ(leaves.size(), one["gradients"].size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    expect_near(leaves[i].grad(), one["gradients"][i], tolerance, "gradient " + std::to_string(i));
  }
}

// Each kind of device has random numbers of its own.
bool draws(const json& one) {
  const std::string type = one["type"];
  if (type == "RReLU" || type.starts_with("FractionalMaxPool")) return one["mode"] == "train";
  return one["mode"] == "train" &&
         (type.find("Dropout") != std::string::npos || one["options"].value("dropout", 0.0) > 0);
}

TEST(Reference, EveryModuleComputesWhatPythonDoes) {
  for (const json& one : cases()) {
    if (wants_gpu() && draws(one)) continue;
    SCOPED_TRACE(one["type"].get<std::string>() + " " + one["options"].dump() + one["arguments"].dump());
    try {
      agrees(one);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(Reference, HasEveryModule) {
  std::set<std::string> held;
  for (const json& one : cases()) held.insert(one["type"]);
  std::set<std::string> classes;  // networks, named as functions are, have tests of their own
  for (const std::string& type : nn::module_types()) {
    if (std::isupper(static_cast<unsigned char>(type[0]))) classes.insert(type);
  }
  EXPECT_EQ(held, classes);
}

}  // namespace
}  // namespace tandem::testing::nn_reference_test
