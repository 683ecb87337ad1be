// Text: the cache, generated tokens against Hugging Face's, and how tokens are drawn.
#include <ATen/CPUGeneratorImpl.h>
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <set>

#include "cpp/data/expect_error.h"
#include "stored_network.h"
#include "tandem/error.h"
#include "tandem/generate.h"

namespace tandem::testing::models_generate_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::vector<json> texts() {
  std::vector<json> all;
  for (const json& one : stored("networks.json")) {
    if (one.contains("generated")) all.push_back(one);
  }
  return all;
}

at::Tensor ids_of(const json& rows) {
  std::vector<at::Tensor> all;
  for (const json& row : rows) all.push_back(torch::tensor(row.get<std::vector<std::int64_t>>()));
  return on_device(at::stack(all));
}

at::Tensor slice(const at::Tensor& ids, std::int64_t from, std::int64_t to) {
  return ids.narrow(1, from, to - from);
}

TEST(Cache, PartsOfATextGiveWhatTheWholeGives) {
  for (const json& one : texts()) {
    SCOPED_TRACE(one["type"].get<std::string>() + " " + one["options"].dump());
    const auto model = network_of(one);
    model->get().eval();
    const at::NoGradGuard no_grad;
    const NetworkInput input = input_of(one);
    const at::Tensor ids = input.arguments[0].toTensor();
    const bool padded = input.arguments.size() > 1;
    const auto whole = model->forward(input.arguments);
    ASSERT_EQ(whole.size(), 1u);  // a cache is given to who asks
    std::vector<at::IValue> last = input.arguments;
    last.resize(5);
    last.push_back(2);
    EXPECT_TRUE(model->forward(last)[0].toTensor().allclose(whole[0].toTensor().narrow(1, ids.size(1) - 2, 2)));
    at::IValue cache;
    std::vector<at::Tensor> logits;
    // Of one position, of several after some, and of a first part.
    for (const auto& [from, to] : {std::pair{0, 3}, {3, 4}, {4, static_cast<int>(ids.size(1))}}) {
      std::vector<at::IValue> arguments{slice(ids, from, to), {}, {}, cache, true};
      if (padded) {
        arguments[1] = slice(input.arguments[1].toTensor(), 0, to);
        arguments[2] = slice(input.arguments[2].toTensor(), from, to);
      }
      const auto results = model->forward(arguments);
      ASSERT_EQ(results.size(), 2u);
      EXPECT_EQ(results[0].toTensor().size(1), to - from);
      logits.push_back(results[0].toTensor());
      cache = results[1];
      EXPECT_EQ(cache.toTupleRef().elements()[0].toTensor().size(2), to);
    }
    const at::Tensor joined = at::cat(logits, 1) * input.matters, wanted = whole[0].toTensor() * input.matters;
    EXPECT_TRUE(joined.allclose(wanted, 1e-10, 1e-10)) << (joined - wanted).abs().max();
  }
}

TEST(Generate, TokensAreHuggingFaces) {
  for (const json& one : texts()) {
    SCOPED_TRACE(one["type"].get<std::string>() + " " + one["options"].dump());
    const auto model = network_of(one);
    model->get().eval();
    const NetworkInput input = input_of(one);
    const json& wanted = one["generated"];
    for (const bool use_cache : {true, false}) {
      GenerateOptions options{.max_new_tokens = 8, .use_cache = use_cache};
      if (input.arguments.size() > 1) options.attention_mask = input.arguments[1].toTensor();
      const at::Tensor ids = input.arguments[0].toTensor();
      EXPECT_TRUE(generate(*model, ids, options).equal(ids_of(wanted["greedy"])));
      options.eos_token_id = {wanted["eos"].get<std::int64_t>()};
      options.pad_token_id = 1;
      EXPECT_TRUE(generate(*model, ids, options).equal(ids_of(wanted["ended"])));
    }
  }
}

// What a model's forward is called with, beside what it computes.
class Watched : public nn::Module {
 public:
  explicit Watched(std::unique_ptr<nn::Module> module) : Module(module->type()), module_(std::move(module)) {}
  torch::nn::Module& get() const override { return module_->get(); }
  std::vector<at::IValue> forward(at::ArrayRef<at::IValue> arguments) override {
    lengths.push_back(arguments[0].toTensor().size(1));
    auto results = module_->forward(arguments);
    logits.push_back(results[0].toTensor().size(1));
    return results;
  }
  std::vector<std::int64_t> lengths, logits;

 protected:
  std::unique_ptr<nn::Module> copy() const override { return nullptr; }

 private:
  std::unique_ptr<nn::Module> module_;
};

TEST(Generate, ATokenCostsOnePositionWithTheCache) {
  Watched model(network_of(texts()[0]));
  const at::Tensor ids = at::zeros({1, 5}, at::kLong);
  generate(model, ids, {.max_new_tokens = 3});
  EXPECT_THAT(model.lengths, ::testing::ElementsAre(5, 1, 1));
  EXPECT_THAT(model.logits, ::testing::Each(1));  // of a long prompt, those of all positions would take much memory
  model.lengths.clear();
  generate(model, ids, {.max_new_tokens = 3, .use_cache = false});
  EXPECT_THAT(model.lengths, ::testing::ElementsAre(5, 6, 7));
}

// What comes after padding would follow no token.
TEST(Generate, PaddingIsOnTheLeft) {
  const auto model = network_of(texts()[0]);
  const at::Tensor ids = at::zeros({2, 3}, at::kLong), mask = at::ones({2, 3}, at::kLong);
  mask[1][2] = 0;
  EXPECT_ERROR(generate(*model, ids, {.max_new_tokens = 1, .attention_mask = mask}), ErrorCode::kInvalidArgument,
               "pad on the left");
  EXPECT_EQ(generate(*model, ids, {.max_new_tokens = 1, .attention_mask = mask.flip(1)}).size(1), 4);
}

TEST(Generate, ASeedDecidesWhatIsDrawnWithAndWithoutTheCache) {
  const auto model = network_of(texts()[2]);
  model->get().eval();
  const at::Tensor ids = at::zeros({4, 3}, at::kLong);
  const auto draw = [&](std::uint64_t seed, bool use_cache) {
    GenerateOptions options{.max_new_tokens = 12, .do_sample = true, .temperature = 1.5, .use_cache = use_cache};
    options.generator = at::make_generator<at::CPUGeneratorImpl>(seed);
    return generate(*model, ids, options);
  };
  const at::Tensor first = draw(3, true);
  EXPECT_TRUE(first.equal(draw(3, true)));
  EXPECT_TRUE(first.equal(draw(3, false)));
  EXPECT_FALSE(first.equal(draw(4, true)));
  EXPECT_FALSE(first[0].equal(first[1]));
  EXPECT_FALSE(first.requires_grad());
}

// Tokens that come up among many drawn ones.
std::set<std::int64_t> drawn(const std::vector<double>& scores, GenerateOptions options) {
  options.do_sample = true;
  options.generator = at::make_generator<at::CPUGeneratorImpl>(9);
  const at::Tensor logits = torch::tensor(scores, at::kDouble).unsqueeze(0).expand({4000, -1});
  const at::Tensor tokens = sample_token(logits, options);
  std::set<std::int64_t> found;
  for (std::int64_t i = 0; i < tokens.size(0); ++i) found.insert(tokens[i].item<std::int64_t>());
  return found;
}

TEST(Sampling, TakesFromTheLikeliest) {
  using Tokens = std::set<std::int64_t>;
  const std::vector<double> logs{std::log(0.1), std::log(0.4), std::log(0.2), std::log(0.3)};
  EXPECT_EQ(drawn(logs, {}), (Tokens{0, 1, 2, 3}));
  EXPECT_EQ(drawn(logs, {.top_k = 2}), (Tokens{1, 3}));
  EXPECT_EQ(drawn(logs, {.top_k = 0}), (Tokens{0, 1, 2, 3}));
  EXPECT_EQ(drawn(logs, {.top_p = 0.3}), (Tokens{1}));  // at least one
  EXPECT_EQ(drawn(logs, {.top_p = 0.65}), (Tokens{1, 3}));
  EXPECT_EQ(drawn(logs, {.top_p = 0.75}), (Tokens{1, 2, 3}));
  // Of those that are left: 0.4 of 0.7 is enough for a half.
  EXPECT_EQ(drawn(logs, {.top_k = 2, .top_p = 0.5}), (Tokens{1}));
  EXPECT_EQ(drawn(logs, {.temperature = 0.01}), (Tokens{1}));
}

TEST(Sampling, FollowsTheProbabilities) {
  GenerateOptions options{.do_sample = true, .temperature = 2};
  options.generator = at::make_generator<at::CPUGeneratorImpl>(1);
  // Roots of 1/16 and 9/16.
  const at::Tensor logits = torch::tensor({0.0, std::log(9.0)}).unsqueeze(0).expand({20000, -1});
  EXPECT_NEAR(sample_token(logits, options).to(at::kDouble).mean().item<double>(), 0.75, 0.02);
}

TEST(Generate, RefusesWhatDoesNotFit) {
  const auto refuses = [](const std::string& why, ErrorCode code, const auto& body) {
    try {
      body();
      ADD_FAILURE() << "taken: " << why;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  };
  const auto model = network_of(texts()[0]);
  const at::Tensor ids = at::zeros({1, 5}, at::kLong);
  const auto linear = nn::make_module("Linear", {{"in_features", 5}, {"out_features", 2}});
  refuses("a Linear does not predict tokens", ErrorCode::kUnsupported, [&] { generate(*linear, ids); });
  const auto invalid = [&](const std::string& why, const std::vector<Option>& options) {
    refuses(why, ErrorCode::kInvalidArgument, [&] { generate(*model, ids, generate_options(options)); });
  };
  refuses("input_ids must be int64", ErrorCode::kInvalidArgument, [&] { generate(*model, torch::rand({1, 5})); });
  invalid("5 tokens and 20 new ones are more than the 24 positions", {});
  invalid("more than the 24 positions", {{"max_new_tokens", std::numeric_limits<std::int64_t>::max()}});
  invalid("'max_new_tokens' must not be negative", {{"max_new_tokens", -1}});
  invalid("'temperature' must be above 0", {{"max_new_tokens", 1}, {"temperature", 0.0}});
  invalid("'top_p' must be above 0", {{"max_new_tokens", 1}, {"top_p", 0.0}});
  invalid("'top_k' must not be negative", {{"max_new_tokens", 1}, {"top_k", -2}});
  invalid("'attention_mask' must have input_ids' sizes [1, 5]",
          {{"max_new_tokens", 1}, {"attention_mask", at::ones({1, 4}, at::kLong)}});
  invalid("'generator' must be a generator", {{"generator", 3}});
  refuses("generate has no option 'beams'", ErrorCode::kNotFound, [] { generate_options({{"beams", 3}}); });
  EXPECT_TRUE(generate(*model, ids, generate_options({{"max_new_tokens", 0}})).equal(ids));
}

}  // namespace
}  // namespace tandem::testing::models_generate_test
