// Starting values of networks whose random numbers come in another order than Python's.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "tandem/nn.h"

namespace tandem::testing::models_initialize_test {
namespace {

// Sums of squares: of so many numbers the standard deviation is known to a few percent.
void expect_std(const torch::nn::Module& module, const std::string& name, double wanted) {
  const at::Tensor values = module.named_parameters()[name].detach();
  EXPECT_NEAR(values.std().item<double>(), wanted, 0.1 * wanted) << name;
  EXPECT_NEAR(values.mean().item<double>(), 0, 0.1 * wanted) << name;
}

TEST(Initialize, Gpt2IsNormalAndProjectionsGetSmallerWithDepth) {
  torch::manual_seed(4);
  const auto gpt2 =
      nn::make_module("gpt2", {{"vocab_size", 60}, {"n_positions", 40}, {"n_embd", 64}, {"n_layer", 8}, {"n_head", 2}});
  expect_std(gpt2->get(), "transformer.wte.weight", 0.02);
  expect_std(gpt2->get(), "transformer.wpe.weight", 0.02);
  expect_std(gpt2->get(), "transformer.h.7.attn.c_attn.weight", 0.02);
  expect_std(gpt2->get(), "transformer.h.0.attn.c_proj.weight", 0.005);
  expect_std(gpt2->get(), "transformer.h.0.mlp.c_proj.weight", 0.005);
  const auto parameters = gpt2->get().named_parameters();
  EXPECT_TRUE(parameters["transformer.h.0.attn.c_attn.bias"].eq(0).all().item<bool>());
  EXPECT_TRUE(parameters["transformer.ln_f.weight"].eq(1).all().item<bool>());
}

TEST(Initialize, LlamaIsNormal) {
  torch::manual_seed(4);
  const auto llama = nn::make_module("llama", {{"vocab_size", 60},
                                               {"hidden_size", 64},
                                               {"intermediate_size", 96},
                                               {"num_hidden_layers", 1},
                                               {"num_attention_heads", 2},
                                               {"initializer_range", 0.5}});
  for (const char* name : {"model.embed_tokens.weight", "model.layers.0.self_attn.o_proj.weight",
                           "model.layers.0.mlp.down_proj.weight", "lm_head.weight"}) {
    expect_std(llama->get(), name, 0.5);
  }
}

}  // namespace
}  // namespace tandem::testing::models_initialize_test
