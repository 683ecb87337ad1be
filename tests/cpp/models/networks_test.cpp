// Copies of networks, what is random in them, and what they refuse.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include "tandem/batch_norm.h"
#include "tandem/error.h"
#include "tandem/nn.h"

namespace tandem::testing::models_networks_test {
namespace {

using nn::make_module;
using ::testing::HasSubstr;

at::Tensor run(nn::Module& module, const at::Tensor& x) {
  return module.forward({x})[0].toTensor();
}

TEST(Networks, ACloneHasModesGradientsAndTensorsOfItsOwn) {
  const auto made = make_module("vit_b_16", {{"image_size", 32},
                                             {"num_layers", 1},
                                             {"num_heads", 2},
                                             {"hidden_dim", 8},
                                             {"mlp_dim", 8},
                                             {"num_classes", 3},
                                             {"dropout", 0.5}});
  made->to(std::nullopt, at::kDouble);
  made->get().eval();
  for (const auto& item : made->get().named_parameters()) {
    if (item.key().starts_with("encoder")) item.value().set_requires_grad(false);
  }
  torch::manual_seed(7);
  const at::Tensor wanted = torch::rand({3});
  torch::manual_seed(7);
  const auto clone = made->clone();
  EXPECT_TRUE(torch::rand({3}).equal(wanted));  // no numbers were drawn
  EXPECT_FALSE(clone->get().is_training());
  const auto from = made->get().named_parameters(), to = clone->get().named_parameters();
  for (const auto& item : from) {
    const at::Tensor copy = to[item.key()];
    EXPECT_TRUE(copy.equal(item.value()) && !copy.is_alias_of(item.value())) << item.key();
    EXPECT_EQ(copy.requires_grad(), item.value().requires_grad()) << item.key();
  }
  const at::Tensor image = torch::rand({1, 3, 32, 32}, at::kDouble);
  EXPECT_TRUE(run(*made, image).equal(run(*clone, image)));
}

TEST(Networks, AClonesRunningStatisticsTakeAsMuchOfABatch) {
  const auto made = make_module("resnet18", {{"num_classes", 3}});
  nn::set_batch_norm_momentum(made->get(), 0.5);
  const auto clone = made->clone();
  EXPECT_EQ(nn::set_batch_norm_momentum(clone->get(), std::nullopt), 0.5);
  EXPECT_EQ(nn::set_batch_norm_momentum(clone->clone()->get(), 0.1), std::nullopt);
}

TEST(Networks, DropoutAndStochasticDepthAreOfTrainingAlone) {
  torch::manual_seed(1);
  const at::Tensor image = torch::rand({4, 3, 32, 32});
  const std::vector<std::pair<const char*, std::vector<Option>>> all{
      {"convnext_tiny", {{"width", 4}, {"stochastic_depth_prob", 0.9}, {"layer_scale", 1.0}}},
      {"vgg11", {{"width", 2}, {"hidden", 32}}},
      {"mobilenet_v3_small", {{"width_mult", 0.25}, {"dropout", 0.5}}},
  };
  for (const auto& [type, options] : all) {
    const auto network = make_module(type, options);
    EXPECT_FALSE(run(*network, image).equal(run(*network, image))) << type;
    network->get().eval();
    EXPECT_TRUE(run(*network, image).equal(run(*network, image))) << type;
  }
  // All of a sample's block or nothing of it: with certainty nothing of the last one.
  const auto dropped = make_module("convnext_tiny", {{"width", 4}, {"stochastic_depth_prob", 1.0}});
  run(*dropped, image).sum().backward();
  const at::Tensor last = dropped->get().named_parameters()["features.7.2.block.5.weight"];
  EXPECT_TRUE(last.grad().eq(0).all().item<bool>());
}

// By which update_bn gives averaged weights statistics of their own.
TEST(Networks, HaveOneMomentumForAllStatistics) {
  torch::manual_seed(1);
  const auto network = make_module("mobilenet_v3_small", {{"width_mult", 0.1}});
  EXPECT_EQ(nn::set_batch_norm_momentum(network->get(), std::nullopt), 0.01);
  const at::Tensor image = torch::rand({2, 3, 32, 32});
  run(*network, image);
  const at::Tensor once = network->get().named_buffers()["features.0.1.running_mean"].clone();
  run(*network, image);
  EXPECT_TRUE(network->get().named_buffers()["features.0.1.running_mean"].allclose(once));  // the mean of two alike
  EXPECT_EQ(nn::set_batch_norm_momentum(network->get(), 0.5), std::nullopt);
  run(*network, image + 1);
  EXPECT_FALSE(network->get().named_buffers()["features.0.1.running_mean"].allclose(once));
  const auto none =
      make_module("vit_b_16", {{"image_size", 16}, {"hidden_dim", 4}, {"num_heads", 1}, {"num_layers", 1}});
  EXPECT_THROW(nn::set_batch_norm_momentum(none->get(), 0.5), Error);
}

TEST(Networks, RefuseWhatDoesNotFit) {
  const auto refuses = [](const std::string& why, const auto& body, ErrorCode code = ErrorCode::kInvalidArgument) {
    try {
      body();
      ADD_FAILURE() << "taken: " << why;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  };
  refuses("option 'groups' is for networks of bottlenecks", [] { make_module("resnet18", {{"groups", 2}}); });
  refuses(
      "resnet18 has no option 'hidden'; it has num_classes",
      [] {
        make_module("resnet18", {{"hidden", 2}});
      },
      ErrorCode::kNotFound);
  refuses("option 'num_classes' must be from 1", [] { make_module("vgg19", {{"num_classes", 0}}); });
  refuses("option 'width' must be from 1 to 65536, not 1099511627776", [] {
    make_module("convnext_large", {{"width", std::int64_t{1} << 40}});
  });
  refuses("option 'dropout' is a probability", [] { make_module("vgg19", {{"dropout", 1.5}}); });
  refuses("option 'width_mult' must be above 0", [] { make_module("mobilenet_v3_large", {{"width_mult", -1.0}}); });
  refuses("option 'image_size' must be a multiple of patch_size 16", [] {
    make_module("vit_b_16", {{"image_size", 225}});
  });
  refuses("no multiple of num_heads 7", [] { make_module("vit_b_16", {{"num_heads", 7}}); });
  refuses("option 'n_embd' must be a multiple of n_head 5", [] { make_module("gpt2", {{"n_head", 5}}); });
  refuses("it can be 'gelu_new', 'gelu'", [] { make_module("gpt2", {{"activation_function", "relu"}}); });
  refuses("option 'n_layer' must be from 1 to 1000", [] { make_module("gpt2", {{"n_layer", 100000}}); });
  refuses("option 'vocab_size' is missing", [] { make_module("llama", {}); });
  const auto llama = [](const std::vector<Option>& more) {
    std::vector<Option> all{{"vocab_size", 7},
                            {"hidden_size", 12},
                            {"intermediate_size", 4},
                            {"num_hidden_layers", 1},
                            {"num_attention_heads", 2}};
    all.insert(all.end(), more.begin(), more.end());
    return make_module("llama", all);
  };
  refuses("must be a multiple of num_key_value_heads 3", [&] { llama({{"num_key_value_heads", 3}}); });
  refuses("heads of an even size, not 3", [&] { llama({{"head_dim", 3}}); });
  refuses("it can be 'default', 'linear', 'llama3'", [&] { llama({{"rope_type", "yarn"}}); });
  const auto vit =
      make_module("vit_b_16", {{"image_size", 32}, {"hidden_dim", 4}, {"num_heads", 1}, {"num_layers", 1}});
  refuses("forward takes images [batch, 3, 32, 32], by the option image_size", [&] {
    run(*vit, torch::rand({1, 3, 48, 48}));
  });
  const auto text = llama({{"max_position_embeddings", 5}});
  const at::Tensor ids = at::zeros({1, 3}, at::kLong);
  refuses("input_ids must be int64 or int32 of [batch, length], not Float", [&] { run(*text, torch::rand({1, 3})); });
  refuses("input_ids must be int64 or int32", [&] { run(*text, at::zeros({1, 0}, at::kLong)); });
  refuses("6 positions are more than the 5", [&] { run(*text, at::zeros({1, 6}, at::kLong)); });
  refuses("attention_mask must be of bool or integers and of [1, 3]", [&] {
    text->forward({ids, at::ones({1, 4}, at::kLong)});
  });
  refuses("position_ids must be of input_ids' sizes", [&] { text->forward({ids, {}, at::ones({2, 3}, at::kLong)}); });
  const auto past = [](std::vector<at::Tensor> tensors) {
    return c10::ivalue::Tuple::create(std::vector<at::IValue>(tensors.begin(), tensors.end()));
  };
  const at::Tensor key = torch::rand({1, 2, 2, 6});
  refuses("past_key_values must be 2 tensors", [&] { text->forward({ids, {}, {}, past({key})}); });
  refuses("past_key_values must be tensors of [batch 1, heads 2, positions, 6]", [&] {
    text->forward({ids, {}, {}, past({key, torch::rand({1, 2, 3, 6})})});
  });
  refuses("logits_to_keep must be from 0 to the 3 positions, not 4", [&] {
    text->forward({ids, {}, {}, {}, false, 4});
  });
  refuses("a tuple of tensors", [&] { text->forward({ids, {}, {}, key}); });
}

}  // namespace
}  // namespace tandem::testing::models_networks_test
