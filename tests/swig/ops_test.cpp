// The facade's generated operators: each kind of argument, option and result once.
#include "tandem/abi/ops.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tandem/abi/runtime.hpp"

namespace tandem::abi {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor floats(const std::vector<float>& values, const std::vector<int64_t>& sizes) {
  return Tensor::from_vector(values, TDM_DTYPE_FLOAT32, sizes);
}
Tensor integers(const std::vector<int64_t>& values) {
  return Tensor::from_vector(values, TDM_DTYPE_INT64, {static_cast<int64_t>(values.size())});
}
std::vector<float> floats(const Tensor& tensor) {
  return tensor.to_vector<float>();
}

TEST(Ops, OptionsHaveTheSchemasDefault) {
  const Tensor x = floats({1, 2}, {2}), y = floats({10, 20}, {2});
  EXPECT_THAT(floats(ops::add(x, y)), ElementsAre(11, 22));
  EXPECT_THAT(floats(ops::add(x, y, 2)), ElementsAre(21, 42));
  EXPECT_THAT(floats(ops::add_scalar(x, 0.5)), ElementsAre(1.5, 2.5));
  EXPECT_EQ(ops::mul_scalar(x, std::complex<double>(0, 1)).dtype(), TDM_DTYPE_COMPLEX64);
  EXPECT_EQ(ops::add_scalar(integers({1}), 2).dtype(), TDM_DTYPE_INT64);
  EXPECT_EQ(ops::sum(x, TDM_DTYPE_FLOAT64).dtype(), TDM_DTYPE_FLOAT64);
  EXPECT_THAT(ops::sum_dim(floats({1, 2, 3, 4}, {2, 2}), std::vector<int64_t>{0}, true).sizes(), ElementsAre(1, 2));
  EXPECT_THAT(ops::zeros({2, 3}, TDM_DTYPE_BOOL).sizes(), ElementsAre(2, 3));
}

TEST(Ops, OfTandemAreCalledTheSameWay) {
  const Tensor weight = floats({1, 2, 3, 4}, {2, 2});
  EXPECT_THAT(floats(ops::init::constant_(weight, 0.5)), ElementsAre(0.5, 0.5, 0.5, 0.5));
  EXPECT_THAT(floats(weight), ElementsAre(0.5, 0.5, 0.5, 0.5));
  EXPECT_DOUBLE_EQ(ops::init::calculate_gain("relu"), std::sqrt(2.0));
  const Tensor wide =
      ops::functional::interpolate(floats({0, 1}, {1, 1, 2}), std::vector<int64_t>{3}, {}, "linear", true);
  EXPECT_THAT(floats(wide), ElementsAre(0, 0.5, 1));
  EXPECT_THAT(ops::utils::parameters_to_vector(TensorList{&weight, &weight}).sizes(), ElementsAre(8));
}

TEST(Ops, NullableParametersMayBeNone) {
  const Tensor x = floats({7, -7}, {2}), two = floats({2, 2}, {2});
  EXPECT_THAT(floats(ops::div_mode(x, two, "floor")), ElementsAre(3, -4));
  EXPECT_THAT(floats(ops::div_mode(x, two, std::nullopt)), ElementsAre(3.5, -3.5));
  EXPECT_THAT(floats(ops::clamp_tensor(x, Tensor(), two)), ElementsAre(2, -7));
  EXPECT_EQ(floats(ops::sum_dim(x, std::nullopt))[0], 0);
}

TEST(Ops, TakesListsOfTensors) {
  const Tensor x = floats({1, 2, 3, 4}, {2, 2});
  EXPECT_THAT(ops::cat(TensorList{&x, &x}, 1).sizes(), ElementsAre(2, 4));
  TensorList indices;
  indices.add_none();
  const Tensor second = integers({1});
  indices.add(second);
  EXPECT_THAT(floats(ops::index_tensors(x, indices)), ElementsAre(2, 4));
}

TEST(Ops, GivesEachKindOfResult) {
  const Tensor x = floats({3, 1, 2}, {3});
  const auto [values, order] = ops::sort(x, 0, true);
  EXPECT_THAT(floats(values), ElementsAre(3, 2, 1));
  EXPECT_THAT(order.to_vector<int64_t>(), ElementsAre(0, 2, 1));
  const std::vector<Tensor> parts = ops::split(x, 2, 0);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_THAT(floats(parts[1]), ElementsAre(2));
  EXPECT_TRUE(ops::equal(x, x));
  EXPECT_FALSE(ops::allclose(x, ops::add_scalar(x, 1)));
  EXPECT_EQ(ops::dense_dim(ops::to_sparse(x)), 0);
  EXPECT_EQ(ops::promote_types(TDM_DTYPE_INT32, TDM_DTYPE_FLOAT16), TDM_DTYPE_FLOAT16);
}

TEST(Ops, WriteInPlaceAndIntoGivenTensors) {
  const Tensor x = floats({1, 2}, {2}), out = floats({}, {0});
  EXPECT_TRUE(ops::add_scalar_(x, 1).is_same(x));
  EXPECT_THAT(floats(x), ElementsAre(2, 3));
  EXPECT_TRUE(ops::exp_out(x, out).is_same(out));
  EXPECT_THAT(floats(out), ElementsAre(std::exp(2.0f), std::exp(3.0f)));
}

TEST(Ops, NamespacesAreThoseOfPython) {
  const Tensor x = floats({3, 0, 0, 4}, {2, 2});
  EXPECT_EQ(floats(ops::linalg::norm(x))[0], 5);
  EXPECT_EQ(ops::fft::rfft(floats({1, 2, 3, 4}, {4})).dtype(), TDM_DTYPE_COMPLEX64);
  EXPECT_EQ(floats(ops::special::expit(floats({0}, {1})))[0], 0.5f);
  EXPECT_THAT(floats(ops::functional::linear(floats({1, 2}, {1, 2}), x, Tensor())), ElementsAre(3, 8));
  EXPECT_EQ(floats(ops::functional::mse_loss(x, ops::zeros_like(x), 2))[0], 25);
}

TEST(Ops, DrawFromTheGeneratorThatIsGiven) {
  Generator generator{Device(TDM_DEVICE_CPU)};
  generator.manual_seed(5);
  const Tensor state = generator.state();
  const std::vector<float> first = floats(ops::rand_generator({3}, generator));
  EXPECT_NE(floats(ops::rand_generator({3}, generator)), first);
  generator.set_state(state);
  EXPECT_EQ(floats(ops::rand_generator({3}, generator)), first);
  EXPECT_EQ(generator.initial_seed(), 5u);
  manual_seed(5);
  EXPECT_EQ(floats(ops::rand_generator({3}, Generator())), first);
  EXPECT_EQ(Generator::default_of(Device(TDM_DEVICE_CPU)).initial_seed(), 5u);
}

TEST(Ops, ErrorsNameTheOperatorAndNothingLeaks) {
  const int64_t before = live_count("tensor");
  {
    const Tensor x = floats({1, 2}, {2}), y = floats({1, 2, 3}, {3});
    try {
      ops::add(x, y);
      FAIL() << "added tensors of 2 and 3 elements";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), TDM_ERROR_INVALID_ARGUMENT);
      EXPECT_THAT(error.message(), HasSubstr("aten::add.Tensor"));
    }
    ops::sort(y);
  }
  EXPECT_EQ(live_count("tensor"), before);
}

}  // namespace
}  // namespace tandem::abi
