// Networks through the C ABI: by name and options, a step of training, tokens and their cache.
#include <cmath>

#include "capi/autograd_values.h"

namespace networks_test {
namespace {

using namespace calls;
using testing::Contains;

Tensor image() {
  const std::vector<std::int64_t> shape{2, 3, 32, 32};
  return call("aten::rand", "", {ints(shape)});
}

Tensor tokens(const std::vector<std::int64_t>& ids, const std::vector<std::int64_t>& sizes) {
  tdm_tensor* made = nullptr;
  EXPECT_OK(tdm_tensor_from_data(ids.data(), ids.size() * 8, TDM_DTYPE_INT64, sizes.data(), sizes.size(), &made));
  return Tensor(made);
}

std::vector<std::int64_t> numbers(const Tensor& ids) {
  const auto real = floats(call("aten::to", "dtype", {of(ids), tagged(TDM_VALUE_DTYPE, TDM_DTYPE_FLOAT32)}).get());
  return {real.begin(), real.end()};
}

Module gpt2() {
  Module made = module("gpt2", {option("vocab_size", of(11)), option("n_positions", of(16)), option("n_embd", of(8)),
                                option("n_layer", of(2)), option("n_head", of(2))});
  EXPECT_OK(tdm_module_train(made.get(), 0));
  return made;
}

std::vector<std::string> parameter_names(const Module& module) {
  tdm_named_tensors* list = nullptr;
  EXPECT_OK(tdm_module_named_parameters(module.get(), &list));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tdm_named_tensors_size(list); ++i) names.push_back(tdm_named_tensors_name(list, i));
  tdm_named_tensors_free(list);
  return names;
}

TEST(Networks, AreModulesByName) {
  tdm_strings* types = nullptr;
  ASSERT_OK(tdm_module_types(&types));
  const auto all = take_strings(types);
  for (const char* type : {"resnet152", "vgg19_bn", "convnext_large", "mobilenet_v3_small", "vit_b_16", "gpt2"}) {
    EXPECT_THAT(all, Contains(type));
  }
  const LeakCheck leaks;
  const Module resnet = module("resnet18", {option("width", of(4)), option("num_classes", of(3))});
  EXPECT_THAT(parameter_names(resnet), Contains("layer2.0.downsample.1.weight"));
  EXPECT_EQ(sizes(forward(resnet, {of(image())}).get()), (std::vector<std::int64_t>{2, 3}));
  tdm_module* unmade = nullptr;
  EXPECT_REFUSED(tdm_module_create("resnet18", nullptr, 1, &unmade), TDM_ERROR_INVALID_ARGUMENT, "'options' is NULL");
  const tdm_option wrong = option("classes", of(3));
  EXPECT_REFUSED(tdm_module_create("resnet18", &wrong, 1, &unmade), TDM_ERROR_NOT_FOUND, "it has num_classes");
}

TEST(Networks, StepsOfTrainingLowerTheLoss) {
  ASSERT_OK(tdm_manual_seed(1));
  const Module net = module("resnet18", {option("width", of(4)), option("num_classes", of(2))});
  const Module loss = module("CrossEntropyLoss", {});
  const auto weights = parameters(net);
  const auto pointers = borrowed(weights);
  const tdm_option options[] = {option("lr", of(0.05))};
  tdm_optimizer* made = nullptr;
  ASSERT_OK(tdm_optimizer_create("SGD", pointers.data(), pointers.size(), options, 1, &made));
  const Optimizer sgd(made);
  const Tensor x = image(), y = tokens({0, 1}, {2});
  float first = 0, last = 0;
  for (int step = 0; step < 5; ++step) {
    const Tensor value = forward(loss, {of(forward(net, {of(x)})), of(y)});
    last = floats(value.get())[0];
    if (step == 0) first = last;
    ASSERT_OK(tdm_optimizer_zero_grad(sgd.get(), 1));
    ASSERT_OK(backward(value));
    ASSERT_OK(tdm_optimizer_step(sgd.get()));
  }
  EXPECT_LT(last, first);
}

TEST(Networks, TokensFollowFromLogitsWithACacheOrWithout) {
  const LeakCheck leaks;
  ASSERT_OK(tdm_manual_seed(5));
  const Module model = gpt2();
  const Tensor prompt = tokens({1, 2, 3, 4, 5, 6}, {2, 3});
  const tdm_option options[] = {option("max_new_tokens", of(5)), option("use_cache", of(true))};
  tdm_tensor* made = nullptr;
  ASSERT_OK(tdm_module_generate(model.get(), prompt.get(), options, 2, &made));
  const Tensor generated(made);
  EXPECT_EQ(sizes(generated.get()), (std::vector<std::int64_t>{2, 8}));
  // By hand: position by position with the values that a forward gives.
  tdm_value results[2] = {};
  std::size_t count = 2;
  const tdm_value first[] = {of(prompt), tagged(TDM_VALUE_NONE), tagged(TDM_VALUE_NONE), tagged(TDM_VALUE_NONE),
                             of(true)};
  ASSERT_OK(tdm_module_forward(model.get(), first, 5, results, &count));
  ASSERT_EQ(count, 2u);
  const std::vector<std::int64_t> wanted = numbers(generated);
  for (int i = 3; i < 8; ++i) {
    const Tensor logits(results[0].as.tensor);
    const Tensor best =
        call("aten::argmax", "", {of(call("aten::select", "int", {of(logits), of(1), of(-1)})), of(-1)});
    EXPECT_EQ(numbers(best), (std::vector<std::int64_t>{wanted[i], wanted[8 + i]}));
    const Tensor next = call("aten::unsqueeze", "", {of(best), of(1)});
    tdm_value cache = results[1];
    const tdm_value again[] = {of(next), tagged(TDM_VALUE_NONE), tagged(TDM_VALUE_NONE), cache};
    ASSERT_OK(tdm_module_forward(model.get(), again, 4, results, &count));
    tdm_value_clear(&cache);
  }
  for (tdm_value& result : results) tdm_value_clear(&result);
}

TEST(Networks, DrawnTokensAreTheGenerators) {
  const Module model = gpt2();
  const Tensor prompt = tokens({1, 2}, {1, 2});
  const auto draw = [&](std::uint64_t seed) {
    tdm_generator* owned = nullptr;
    EXPECT_OK(tdm_generator_create(tdm_device{TDM_DEVICE_CPU, 0}, &owned));
    const Generator generator(owned);
    EXPECT_OK(tdm_generator_manual_seed(owned, seed));
    const tdm_option options[] = {option("max_new_tokens", of(12)), option("do_sample", of(true)),
                                  option("temperature", of(2.0)), option("generator", of(generator))};
    tdm_tensor* made = nullptr;
    EXPECT_OK(tdm_module_generate(model.get(), prompt.get(), options, 4, &made));
    return numbers(Tensor(made));
  };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
}

TEST(Networks, GenerateSaysWhatIsWrong) {
  const Module model = gpt2(), linear = module("Linear", {option("in_features", of(2)), option("out_features", of(1))});
  const Tensor prompt = tokens({1, 2}, {1, 2}), real = tensor({1, 2}, {1, 2});
  tdm_tensor* out = nullptr;
  EXPECT_REFUSED(tdm_module_generate(model.get(), prompt.get(), nullptr, 0, &out), TDM_ERROR_INVALID_ARGUMENT,
                 "2 tokens and 20 new ones are more than the 16 positions");
  EXPECT_REFUSED(tdm_module_generate(model.get(), real.get(), nullptr, 0, &out), TDM_ERROR_INVALID_ARGUMENT,
                 "input_ids must be int64");
  EXPECT_REFUSED(tdm_module_generate(linear.get(), prompt.get(), nullptr, 0, &out), TDM_ERROR_UNSUPPORTED,
                 "Linear does not predict tokens");
  const tdm_option wrong = option("beams", of(3));
  EXPECT_REFUSED(tdm_module_generate(model.get(), prompt.get(), &wrong, 1, &out), TDM_ERROR_NOT_FOUND, "'beams'");
  EXPECT_EQ(out, nullptr);
}

}  // namespace
}  // namespace networks_test
