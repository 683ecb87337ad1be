// Generators: seeds, states, and operators that draw from them.
#include "capi/autograd_values.h"

namespace generators_test {
namespace {

using namespace calls;
using testing::HasSubstr;

constexpr tdm_device kCpu{TDM_DEVICE_CPU, -1};

Generator generator() {
  tdm_generator* made = nullptr;
  EXPECT_OK(tdm_generator_create(kCpu, &made));
  return Generator(made);
}

Generator default_generator() {
  tdm_generator* made = nullptr;
  EXPECT_OK(tdm_generator_default(kCpu, &made));
  return Generator(made);
}

Tensor state(const Generator& generator) {
  tdm_tensor* made = nullptr;
  EXPECT_OK(tdm_generator_get_state(generator.get(), &made));
  return Tensor(made);
}

std::vector<float> draw(const Generator& from) {
  return floats(call("aten::rand", "generator", {ints({4}), of(from)}).get());
}

std::vector<float> draw() {
  return floats(call("aten::rand", "", {ints({4})}).get());
}

TEST(Generator, RepeatsWhatItsSeedGives) {
  LeakCheck leaks;
  const Generator a = generator(), b = generator();
  EXPECT_EQ(draw(a), draw(b));
  ASSERT_OK(tdm_generator_manual_seed(a.get(), 1));
  ASSERT_OK(tdm_generator_manual_seed(b.get(), 2));
  EXPECT_NE(draw(a), draw(b));
  ASSERT_OK(tdm_generator_manual_seed(b.get(), 1));
  const auto second = draw(a);
  draw(b);
  EXPECT_EQ(draw(b), second);
  std::uint64_t seed = 0, now = 0;
  ASSERT_OK(tdm_generator_initial_seed(a.get(), &seed));
  EXPECT_EQ(seed, 1u);
  ASSERT_OK(tdm_generator_seed(a.get(), &seed));
  ASSERT_OK(tdm_generator_initial_seed(a.get(), &now));
  EXPECT_EQ(seed, now);
  EXPECT_NE(seed, 1u);
  EXPECT_EQ(tdm_generator_get_device(a.get()).type, TDM_DEVICE_CPU);
}

TEST(Generator, LeavesTheDefaultOneAlone) {
  ASSERT_OK(tdm_manual_seed(3));
  const auto expected = draw();
  ASSERT_OK(tdm_manual_seed(3));
  const Generator own = generator();
  draw(own);
  EXPECT_EQ(draw(), expected);
  const auto next = draw();
  ASSERT_OK(tdm_manual_seed(3));
  EXPECT_EQ(draw(default_generator()), expected);
  EXPECT_EQ(draw(default_generator()), next);
}

TEST(Generator, AStateThatIsRestoredRepeatsRandAndDropout) {
  LeakCheck leaks;
  const Generator usual = default_generator();
  draw();
  const Tensor saved = state(usual), ones = tensor(std::vector<float>(64, 1), {64});
  const auto dropout = [&] { return floats(call("aten::dropout", "", {of(ones), of(0.5), of(true)}).get()); };
  const auto numbers = draw(), dropped = dropout();
  EXPECT_NE(draw(), numbers);
  ASSERT_OK(tdm_generator_set_state(usual.get(), saved.get()));
  EXPECT_EQ(draw(), numbers);
  EXPECT_EQ(dropout(), dropped);
  // A state is a copy, and moves to another generator.
  const Generator other = generator();
  ASSERT_OK(tdm_generator_set_state(other.get(), saved.get()));
  EXPECT_EQ(draw(other), numbers);
}

TEST(Generator, SaysWhatItDoesNotTake) {
  LeakCheck leaks;
  const Generator g = generator();
  tdm_generator* made = nullptr;
  const Tensor wrong = tensor({1, 2}, {2});
  EXPECT_REFUSED(tdm_generator_set_state(g.get(), wrong.get()), TDM_ERROR_INVALID_ARGUMENT, "no state of a generator");
  const std::uint8_t bytes[3] = {};
  const std::int64_t three = 3;
  tdm_tensor* small = nullptr;
  ASSERT_OK(tdm_tensor_from_data(bytes, 3, TDM_DTYPE_UINT8, &three, 1, &small));
  const Tensor owned(small);
  EXPECT_REFUSED(tdm_generator_set_state(g.get(), small), TDM_ERROR_INVALID_ARGUMENT, "size");
  EXPECT_REFUSED(tdm_generator_manual_seed(nullptr, 1), TDM_ERROR_INVALID_ARGUMENT, "'generator' is NULL");
  EXPECT_REFUSED(tdm_generator_create({TDM_DEVICE_META, -1}, &made), TDM_ERROR_INVALID_ARGUMENT,
                 "TDM_DEVICE_CPU and TDM_DEVICE_CUDA");
  std::int32_t gpus = 0;
  ASSERT_OK(tdm_cuda_device_count(&gpus));
  if (gpus == 0) {
    EXPECT_REFUSED(tdm_generator_default({TDM_DEVICE_CUDA, 0}, &made), TDM_ERROR_UNSUPPORTED, "needs a GPU");
  }
  EXPECT_EQ(made, nullptr);
  tdm_value result{};
  EXPECT_REFUSED(call(find("aten::rand", "generator"), {ints({4}), of(Generator())}, &result),
                 TDM_ERROR_INVALID_ARGUMENT, "argument 'generator' is NULL");
  EXPECT_REFUSED(call(find("aten::rand", "generator"), {ints({4}), of(7)}, &result), TDM_ERROR_INVALID_ARGUMENT,
                 "argument 'generator' (Generator?) cannot be an int");
  EXPECT_REFUSED(call(find("aten::relu", ""), {of(g)}, &result), TDM_ERROR_INVALID_ARGUMENT,
                 "argument 'self' (Tensor) cannot be a generator");
  tdm_generator_free(nullptr);
}

}  // namespace
}  // namespace generators_test
