// What modules say of themselves, and what they refuse.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tandem/error.h"
#include "tandem/nn.h"

namespace tandem::testing::nn_describe_test {
namespace {

using nn::describe_module;
using nn::make_module;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const OptionDescription& option(const nn::ModuleDescription& of, const std::string& name) {
  for (const auto& one : of.options) {
    if (one.name == name) return one;
  }
  throw std::runtime_error("no option " + name);
}

TEST(Describe, OptionsAndTensorsAreTheFactorysOwn) {
  const auto conv = describe_module("Conv2d");
  EXPECT_TRUE(option(conv, "kernel_size").required);
  EXPECT_EQ(option(conv, "kernel_size").type, "int[2]");
  EXPECT_EQ(option(conv, "stride").initial.toIntVector(), (std::vector<std::int64_t>{1, 1}));
  EXPECT_THAT(option(conv, "padding").choices, ElementsAre("valid", "same"));
  EXPECT_EQ(option(conv, "padding_mode").initial.toStringRef(), "zeros");
  EXPECT_THAT(conv.parameters, ElementsAre("weight", "bias"));
  EXPECT_EQ(option(describe_module("MaxPool2d"), "stride").type, "int[2]?");
  EXPECT_TRUE(option(describe_module("MaxPool2d"), "stride").initial.isNone());
  // Of its flags one switches the parameters on, the other the buffers.
  const auto norm = describe_module("InstanceNorm1d");
  EXPECT_THAT(norm.parameters, ElementsAre("weight", "bias"));
  EXPECT_THAT(norm.buffers, ElementsAre("running_mean", "running_var", "num_batches_tracked"));
}

TEST(Describe, WhatForwardsTakeAndGive) {
  const auto lstm = describe_module("LSTM");
  ASSERT_EQ(lstm.arguments.size(), 2u);
  EXPECT_EQ(lstm.arguments[0].name, "input");
  EXPECT_FALSE(lstm.arguments[1].required);
  EXPECT_EQ(lstm.arguments[1].value.parts.size(), 2u);
  ASSERT_EQ(lstm.results.size(), 2u);
  EXPECT_EQ(lstm.results[1].type, "tuple");
  EXPECT_EQ(describe_module("CTCLoss").arguments.size(), 4u);
}

TEST(Describe, DrawsNoRandomNumbers) {
  torch::manual_seed(3);
  const at::Tensor wanted = torch::rand({4});
  torch::manual_seed(3);
  for (const std::string& type : nn::module_types()) describe_module(type);
  EXPECT_TRUE(torch::rand({4}).equal(wanted));
  EXPECT_THROW(describe_module("Conv4d"), Error);
}

// What LibTorch's classes took without a word, or crash on.
TEST(Modules, RefuseWhatDoesNotFit) {
  const auto refuses = [](const std::string& why, const auto& body) {
    try {
      body();
      ADD_FAILURE() << "taken: " << why;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  };
  const auto attention = make_module("MultiheadAttention", {{"embed_dim", 4}, {"num_heads", 2}});
  const at::Tensor x = torch::rand({3, 2, 4});
  refuses("no multiple of num_heads 3",
          [] { make_module("MultiheadAttention", {{"embed_dim", 4}, {"num_heads", 3}}); });
  refuses("query must be [length, batch, 4]", [&] { attention->forward({torch::rand({3, 2, 5}), x, x}); });
  refuses("value must be as long as the key", [&] { attention->forward({x, x, torch::rand({4, 2, 4})}); });
  refuses("key_padding_mask must be [2, 3]", [&] { attention->forward({x, x, x, torch::rand({3, 2})}); });
  refuses("attn_mask must be [3, 3] or [4, 3, 3]",
          [&] { attention->forward({x, x, x, at::IValue(), false, torch::rand({2, 3})}); });
  refuses("of bool or a floating-point dtype",
          [&] { attention->forward({x, x, x, at::IValue(), false, torch::ones({3, 3}, at::kLong)}); });
  refuses("must be from 1 to 1000",
          [] { make_module("TransformerEncoder", {{"d_model", 4}, {"nhead", 2}, {"num_layers", 5000}}); });
  refuses("var has a negative entry",
          [&] { make_module("GaussianNLLLoss", {})->forward({x, x, torch::full_like(x, -1)}); });
  refuses("[batch, channels, length]", [&] { make_module("Dropout1d", {})->forward({torch::rand({4})}); });
}

TEST(Modules, ThreadsShareOneForInference) {
  torch::manual_seed(1);
  const auto lstm = make_module("LSTM", {{"input_size", 3}, {"hidden_size", 8}, {"num_layers", 2}, {"dropout", 0.5}});
  lstm->get().eval();
  const auto answer = [&](int request) {
    const c10::InferenceMode mode;
    return lstm->forward({torch::full({4, 1, 3}, 0.1 * request)})[0].toTensor();
  };
  constexpr int kRequests = 8;
  std::vector<at::Tensor> alone;
  for (int request = 0; request < kRequests; ++request) alone.push_back(answer(request));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        const int request = (thread + i) % kRequests;
        EXPECT_TRUE(answer(request).equal(alone[static_cast<std::size_t>(request)])) << request;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Modules, ACausalHintNeedsNoMask) {
  torch::manual_seed(1);
  const auto attention = make_module("MultiheadAttention", {{"embed_dim", 4}, {"num_heads", 2}, {"add_bias_kv", true}});
  const at::Tensor x = torch::rand({3, 2, 4}), mask = torch::ones({3, 3}).triu(1).to(at::kBool);
  for (const bool weights : {true, false}) {
    const auto masked = attention->forward({x, x, x, at::IValue(), weights, mask});
    const auto hinted = attention->forward({x, x, x, at::IValue(), weights, at::IValue(), true, true});
    EXPECT_TRUE(masked[0].toTensor().allclose(hinted[0].toTensor()));
  }
}

}  // namespace
}  // namespace tandem::testing::nn_describe_test
