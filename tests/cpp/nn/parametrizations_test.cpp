// Weight norm and spectral norm against Python's, as reference_functions.py stored them.
#include "tandem/nn_parametrizations.h"

#include <c10/core/CPUAllocator.h>
#include <gmock/gmock.h>

#include <thread>

#include "module_reference.h"
#include "tandem/error.h"

namespace tandem::testing::parametrizations_test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Names = std::vector<std::string>;

at::Tensor output(nn::Module& module, const at::Tensor& x) {
  return module.forward(std::vector<at::IValue>{x}).at(0).toTensor();
}

Names parameter_names(const nn::Module& module) {
  return module.get().named_parameters().keys();
}

void compare(const json& expected, nn::Module& module, const char* what, double tolerance) {
  auto found = module.get().named_parameters();
  for (const auto& buffer : module.get().named_buffers()) found.insert(buffer.key(), buffer.value());
  EXPECT_EQ(found.size(), expected.size()) << what;
  for (const auto& [name, values] : expected.items()) {
    ASSERT_TRUE(found.contains(name)) << what << " " << name;
    EXPECT_EQ(difference(values, found[name], tolerance), "") << what << " " << name;
  }
}

TEST(Parametrizations, ArePythons) {
  const json all = stored("parametrized.json");
  // On a GPU LibTorch sums weight_norm's squares as float, and random numbers are others there.
  const double tolerance = wants_gpu() ? 1e-6 : 1e-10;
  for (const json& line : all.at("parametrized")) {
    if (wants_gpu() && line["how"] == "spectral_norm") continue;
    SCOPED_TRACE(line["type"].get<std::string>() + " " + line["how"].get<std::string>() + line["more"].dump());
    const auto module = made(line["type"], options_of(line["options"]));
    const at::Tensor x = formula(line["input"].get<std::vector<std::int64_t>>(), 2);
    const std::string name = line["name"];
    torch::manual_seed(17);
    nn::parametrize(*module, line["how"], name, options_of(line["more"]));
    EXPECT_TRUE(nn::is_parametrized(*module, name));
    compare(line["begin"], *module, "begin", tolerance);
    for (const json& expected : line["train"]) EXPECT_EQ(difference(expected, output(*module, x), tolerance), "");
    const at::Tensor y = output(*module, x);
    (y * (1 + on_device(at::arange(y.numel(), at::kDouble)).remainder(7).view(y.sizes()) / 10)).sum().backward();
    for (const auto& [key, expected] : line["grads"].items()) {
      EXPECT_EQ(difference(expected, module->get().named_parameters()[key].grad(), tolerance), "") << key;
    }
    compare(line["state"], *module, "state", tolerance);
    const auto copied = module->clone();
    for (nn::Module* one : {module.get(), copied.get()}) {
      one->get().eval();
      EXPECT_EQ(difference(line["eval"], output(*one, x), tolerance), "");
      nn::remove_parametrizations(*one, name);
      EXPECT_FALSE(nn::is_parametrized(*one, name));
      EXPECT_EQ(difference(line["removed"], one->get().named_parameters()[name], tolerance), "");
      EXPECT_EQ(difference(line["eval"], output(*one, x), tolerance), "");
    }
  }
}

TEST(Parametrizations, TakeThePlaceOfTheParameter) {
  const auto linear = nn::make_module("Linear", {{"in_features", 3}, {"out_features", 2}});
  const at::Tensor weight = linear->get().named_parameters()["weight"];
  nn::weight_norm(*linear);
  EXPECT_THAT(parameter_names(*linear),
              ElementsAre("bias", "parametrizations.weight.original0", "parametrizations.weight.original1"));
  EXPECT_TRUE(linear->get().named_parameters()["parametrizations.weight.original1"].is_same(weight));
  const auto copied = linear->clone();
  EXPECT_EQ(parameter_names(*copied), parameter_names(*linear));
  EXPECT_FALSE(copied->get().named_parameters()["parametrizations.weight.original1"].is_same(weight));
  nn::spectral_norm(*linear, "bias");
  nn::remove_parametrizations(*linear);
  EXPECT_THAT(parameter_names(*linear), ElementsAre("weight", "parametrizations.bias.original"));
  EXPECT_TRUE(linear->get().named_parameters()["weight"].is_same(weight));
  nn::remove_parametrizations(*linear, "bias");
  EXPECT_THAT(parameter_names(*linear), ElementsAre("weight", "bias"));
}

TEST(Parametrizations, MoveAndLearn) {
  const auto linear = nn::make_module("Linear", {{"in_features", 3}, {"out_features", 2}});
  nn::spectral_norm(*linear);
  linear->to({}, at::kDouble);
  const at::Tensor x = formula({4, 3}, 1);
  const at::Tensor before = output(*linear, x);
  EXPECT_EQ(before.scalar_type(), at::kDouble);
  before.sum().backward();
  const auto named = linear->get().named_parameters();
  const at::Tensor& original = named["parametrizations.weight.original"];
  {
    const at::NoGradGuard no_grad;
    original.add_(formula({2, 3}, 4));
  }
  EXPECT_FALSE(output(*linear, x).allclose(before));
}

TEST(Parametrizations, ForwardsOfSeveralThreadsAreOneAtATime) {
  const auto linear = made("Linear", {{"in_features", 3}, {"out_features", 2}});
  nn::weight_norm(*linear);
  const at::Tensor x = formula({4, 3}, 1), expected = output(*linear, x).detach();
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) wrong += !output(*linear, x).equal(expected);
    });
  }
  for (int i = 0; i < 20; ++i) linear->clone();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// Gives no memory from its request number `left` (from 0) on.
class Exhausted final : public at::Allocator {
 public:
  explicit Exhausted(int left) : left_(left) { c10::SetCPUAllocator(this, 255); }
  ~Exhausted() override { c10::SetCPUAllocator(memory_, 255); }
  at::DataPtr allocate(std::size_t bytes) override {
    if (left_-- <= 0) throw std::bad_alloc();
    return memory_->allocate(bytes);
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

 private:
  at::Allocator* const memory_ = c10::GetCPUAllocator();
  int left_;
};

TEST(Parametrizations, StayWhereACloneFindsNoMemory) {
  const auto lstm = made("LSTM", {{"input_size", 3}, {"hidden_size", 2}});
  for (const char* name : {"weight_ih_l0", "weight_hh_l0"}) nn::weight_norm(*lstm, name);
  const Names names = parameter_names(*lstm);
  const at::Tensor x = formula({4, 1, 3}, 1), expected = output(*lstm, x).detach();
  std::unique_ptr<nn::Module> copied;
  int failed = 0;
  for (; !copied && failed < 1000; ++failed) {
    try {
      const Exhausted exhausted(failed);
      copied = lstm->clone();
    } catch (const std::bad_alloc&) {
    }
    ASSERT_EQ(parameter_names(*lstm), names) << failed;
    ASSERT_TRUE(output(*lstm, x).equal(expected)) << failed;
  }
  EXPECT_GT(failed, 10);
  EXPECT_TRUE(output(*copied, x).equal(expected));
}

TEST(Parametrizations, ErrorsNameWhatDoesNotFit) {
  const auto linear = nn::make_module("Linear", {{"in_features", 3}, {"out_features", 2}});
  const auto refused = [&](auto&& body) -> std::string {
    try {
      body();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was refused";
  };
  EXPECT_THAT(refused([&] { nn::weight_norm(*linear, "weights"); }),
              HasSubstr("Linear has no parameter 'weights' that can be computed; its parameters are weight, bias"));
  EXPECT_THAT(refused([&] { nn::weight_norm(*linear, "weight", 2); }), HasSubstr("dim is one of the 2 dimensions"));
  EXPECT_THAT(refused([&] { nn::spectral_norm(*linear, "weight", 0); }), HasSubstr("n_power_iterations is positive"));
  EXPECT_THAT(refused([&] { nn::parametrize(*linear, "orthogonal", "weight"); }), HasSubstr("there are spectral_norm"));
  EXPECT_THAT(refused([&] { nn::parametrize(*linear, "weight_norm", "weight", {{"eps", 1.0}}); }), HasSubstr("'eps'"));
  EXPECT_THAT(refused([&] { nn::remove_parametrizations(*linear); }), HasSubstr("'weight' is not parametrized"));
  nn::weight_norm(*linear);
  EXPECT_THAT(refused([&] { nn::spectral_norm(*linear); }), HasSubstr("'weight' is parametrized already"));
  const auto losses = nn::make_module("MSELoss", {});
  EXPECT_THAT(refused([&] { nn::weight_norm(*losses); }), HasSubstr("its parameters are none"));
}

}  // namespace
}  // namespace tandem::testing::parametrizations_test
