// Networks against torchvision and Hugging Face's transformers, as reference.py stored them.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <set>

#include "stored_network.h"

namespace tandem::testing::models_reference_test {
namespace {

using nlohmann::json;

// Networks as small as these are computed fastest by one thread.
class OneThread : public ::testing::Environment {
  void SetUp() override { at::set_num_threads(1); }
};
const ::testing::Environment* const kOneThread = ::testing::AddGlobalTestEnvironment(new OneThread);

// On a GPU LibTorch takes 1/6 of hardswish and hardsigmoid, and sines of positions, as float, whatever the dtype.
void expect_near(const at::Tensor& found, double wanted, double tolerance, const std::string& what) {
  ASSERT_TRUE(found.defined()) << what;
  if (wants_gpu()) tolerance = 1e-5;
  EXPECT_NEAR(found.item<double>(), wanted, tolerance * std::max(1.0, std::abs(wanted))) << what;
}

void expect_names(const json& one, const torch::nn::Module& module) {
  const auto found = names_and_sizes(module);
  ASSERT_EQ(found.size(), one["named"].size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].first, one["named"][i][0].get<std::string>());
    EXPECT_EQ(found[i].second, one["named"][i][1].get<std::vector<std::int64_t>>()) << found[i].first;
  }
}

// One seed draws torchvision's values, in float.
void expect_drawn(const json& one, const torch::nn::Module& module) {
  if (!one.contains("drawn")) return;
  const auto parameters = module.named_parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor sum = parameters[i].value().detach().to(at::kDouble).sum();
    expect_near(sum, one["drawn"][i], 1e-5, "drawn " + parameters[i].key());
  }
}

void agrees(const json& one) {
  torch::manual_seed(0);
  const auto made = nn::make_module(one["type"], options_of(one["options"]));
  ASSERT_NO_FATAL_FAILURE(expect_names(one, made->get()));
  expect_drawn(one, made->get());
  made->to(test_device(), at::kDouble);
  fill(made->get());
  // What is computed with is a clone: it is to have all that the network has.
  const auto network = made->clone();
  const NetworkInput input = input_of(one);
  const at::Tensor output = network->forward(input.arguments)[0].toTensor();
  EXPECT_EQ(output.sizes().vec(), one["train"][0].get<std::vector<std::int64_t>>());
  const at::Tensor loss = projection(output * input.matters);
  expect_near(loss, one["train"][1], 1e-9, "output in training");
  loss.backward();
  const auto parameters = network->get().named_parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    expect_near(projection(parameters[i].value().grad()), one["gradients"][i], 1e-8, "gradient " + parameters[i].key());
  }
  const auto buffers = network->get().named_buffers();
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    expect_near(projection(buffers[i].value()), one["buffers"][i], 1e-9, buffers[i].key());
  }
  network->get().eval();
  const at::Tensor evaluated = network->forward(input.arguments)[0].toTensor();
  expect_near(projection(evaluated * input.matters), one["eval"], 1e-9, "output in evaluation");
}

TEST(Networks, ComputeWhatPythonDoes) {
  for (const json& one : stored("networks.json")) {
    SCOPED_TRACE(one["type"].get<std::string>() + " " + one["options"].dump());
    try {
      agrees(one);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

std::string hash_of(const torch::nn::Module& module) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto& [name, sizes] : names_and_sizes(module)) {
    std::string line = name + " ";
    for (std::size_t i = 0; i < sizes.size(); ++i) line += (i == 0 ? "" : ",") + std::to_string(sizes[i]);
    for (const char byte : line + "\n") hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

TEST(Networks, HavePythonsNamesAndSizesInFull) {
  std::set<std::string> checked{"llama"};  // has no default sizes
  for (const json& one : stored("names.json")) {
    const auto module = nn::make_meta_module(one["type"], {});
    std::int64_t elements = 0;
    for (const at::Tensor& parameter : module->get().parameters()) {
      EXPECT_TRUE(parameter.is_meta());
      elements += parameter.numel();
    }
    EXPECT_EQ(names_and_sizes(module->get()).size(), one["named"].get<std::size_t>()) << one["type"];
    EXPECT_EQ(elements, one["elements"].get<std::int64_t>()) << one["type"];
    EXPECT_EQ(hash_of(module->get()), one["hash"].get<std::string>()) << one["type"];
    checked.insert(one["type"]);
  }
  std::set<std::string> networks;  // named as functions are; modules of torch.nn as classes
  for (const std::string& type : nn::module_types()) {
    if (std::islower(static_cast<unsigned char>(type[0]))) networks.insert(type);
  }
  EXPECT_EQ(checked, networks);
}

}  // namespace
}  // namespace tandem::testing::models_reference_test
