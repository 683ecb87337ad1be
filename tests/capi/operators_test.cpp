// Operators by name: values in, values out, and what is refused.
#include <chrono>
#include <cmath>
#include <cstdio>

#include "capi/calls.h"

namespace operators_test {
namespace {

using namespace calls;
using testing::ElementsAre;

TEST(OpFind, NamesTheLibTorchThatLacksIt) {
  const tdm_op* op = nullptr;
  const std::string text = message(tdm_op_find("aten::no_such_thing", "", &op), TDM_ERROR_NOT_FOUND);
  EXPECT_THAT(text, testing::HasSubstr("aten::no_such_thing"));
  EXPECT_THAT(text, testing::HasSubstr(tdm_libtorch_version()));
  EXPECT_EQ(op, nullptr);
  EXPECT_REFUSED(tdm_op_find("aten::add", "Nope", &op), TDM_ERROR_NOT_FOUND, "\"Tensor\"");
  EXPECT_REFUSED(tdm_op_find("add", "Tensor", &op), TDM_ERROR_NOT_FOUND, "namespace");
  EXPECT_REFUSED(tdm_op_find(nullptr, "", &op), TDM_ERROR_INVALID_ARGUMENT, "'name'");
  EXPECT_REFUSED(tdm_op_find("aten::mm", "", nullptr), TDM_ERROR_INVALID_ARGUMENT, "'out'");
}

TEST(OpFind, IsTheSameEachTime) {
  EXPECT_EQ(find("aten::add", "Tensor"), find("aten::add", "Tensor"));
  EXPECT_EQ(find("aten::mm"), find("aten::mm"));
  EXPECT_STREQ(tdm_op_schema(find("aten::mm")), "aten::mm(Tensor self, Tensor mat2) -> Tensor");
  EXPECT_EQ(tdm_op_argument_count(find("aten::add", "Tensor")), 3u);
  EXPECT_EQ(tdm_op_result_count(find("aten::max", "dim")), 2u);
}

TEST(OpCall, FillsDefaults) {
  const Tensor a = tensor({1, 2}, {2}), b = tensor({10, 20}, {2});
  EXPECT_THAT(floats(call("aten::add", "Tensor", {of(a), of(b)}).get()), ElementsAre(11, 22));
  EXPECT_THAT(floats(call("aten::add", "Tensor", {of(a), of(b), tagged(TDM_VALUE_DEFAULT)}).get()),
              ElementsAre(11, 22));
  EXPECT_THAT(floats(call("aten::add", "Tensor", {of(a), of(b), of(2)}).get()), ElementsAre(21, 42));
}

// Operators of tensors and numbers are called without a stack; what they are given is checked all the same.
TEST(OpCall, ChecksWhatCommonOperatorsAreGiven) {
  Tensor a = tensor({1, 2}, {2});
  const Tensor b = tensor({10, 20}, {2});
  tdm_value result{};
  EXPECT_REFUSED(calls::call(find("aten::add", "Tensor"), {of(a)}, &result), TDM_ERROR_INVALID_ARGUMENT,
                 "argument 'other' (Tensor) is missing");
  EXPECT_REFUSED(calls::call(find("aten::add", "Tensor"), {of(a), tagged(TDM_VALUE_DEFAULT)}, &result),
                 TDM_ERROR_INVALID_ARGUMENT, "argument 'other' (Tensor) has no default");
  EXPECT_REFUSED(calls::call(find("aten::add", "Tensor"), {of(a), of(1)}, &result), TDM_ERROR_INVALID_ARGUMENT,
                 "argument 'other' (Tensor) cannot be an int");
  EXPECT_REFUSED(calls::call(find("aten::transpose", "int"), {of(a), of(0), of(0.5)}, &result),
                 TDM_ERROR_INVALID_ARGUMENT, "argument 'dim1' (int) cannot be a double");
  tdm_value same{};
  ASSERT_OK(calls::call(find("aten::add_", "Tensor"), {of(a), of(b), of(2)}, &same));
  EXPECT_EQ(tdm_tensor_is_same(same.as.tensor, a.get()), 1);
  tdm_value_clear(&same);
  EXPECT_THAT(floats(a.get()), ElementsAre(21, 42));
}

TEST(OpCall, TakesEveryScalarForScalar) {
  const Tensor a = tensor({2, 4}, {2});
  EXPECT_THAT(floats(call("aten::mul", "Scalar", {of(a), of(3)}).get()), ElementsAre(6, 12));
  EXPECT_THAT(floats(call("aten::mul", "Scalar", {of(a), of(0.5)}).get()), ElementsAre(1, 2));
  EXPECT_THAT(floats(call("aten::mul", "Scalar", {of(a), of(true)}).get()), ElementsAre(2, 4));
  tdm_value i = tagged(TDM_VALUE_COMPLEX);
  i.as.complex_number = {0, 1};
  const Tensor turned = call("aten::mul", "Scalar", {of(a), i});
  EXPECT_EQ(tdm_tensor_get_dtype(turned.get()), TDM_DTYPE_COMPLEX64);
  tdm_value result{};
  EXPECT_REFUSED(calls::call(find("aten::mul", "Scalar"), {of(a), of("x")}, &result), TDM_ERROR_INVALID_ARGUMENT,
                 "argument 'other' (Scalar) cannot be a string");
}

TEST(OpCall, PromotesIntToDoubleAndBroadcastsIntToList) {
  const Tensor a = tensor({-1, 0, 1}, {3});
  // float negative_slope-like: aten::dropout(Tensor input, float p, bool train)
  EXPECT_THAT(floats(call("aten::dropout", "", {of(a), of(0), of(false)}).get()), ElementsAre(-1, 0, 1));
  const Tensor image = tensor(std::vector<float>(16, 1), {1, 1, 4, 4});
  // int[2] kernel_size
  EXPECT_THAT(sizes(call("aten::avg_pool2d", "", {of(image), of(2)}).get()), ElementsAre(1, 1, 2, 2));
  // int[] that no number stands for
  tdm_value result{};
  EXPECT_REFUSED(calls::call(find("aten::view"), {of(a), of(3)}, &result), TDM_ERROR_INVALID_ARGUMENT,
                 "aten::view: argument 'size'");
}

TEST(OpCall, ListsGoInAndOut) {
  const Tensor a = tensor({1, 2, 3, 4, 5, 6}, {6});
  const std::vector<std::int64_t> shape{2, 3};
  const Tensor b = call("aten::view", "", {of(a), ints(shape)});
  EXPECT_THAT(sizes(b.get()), ElementsAre(2, 3));

  const std::vector<tdm_tensor*> two{a.get(), a.get()};
  EXPECT_THAT(sizes(call("aten::cat", "", {list(TDM_VALUE_TENSOR_LIST, two)}).get()), ElementsAre(12));

  tdm_value parts{};
  ASSERT_OK(calls::call(find("aten::split", "Tensor"), {of(a), of(4)}, &parts));
  ASSERT_EQ(parts.tag, TDM_VALUE_TENSOR_LIST);
  ASSERT_EQ(parts.as.list.size, 2u);
  EXPECT_THAT(floats(static_cast<tdm_tensor* const*>(parts.as.list.data)[1]), ElementsAre(5, 6));
  tdm_value_clear(&parts);
  EXPECT_EQ(parts.tag, TDM_VALUE_NONE);

  // Tensor?[]: NULL means all of that dimension.
  const std::int64_t ids[] = {0, 2}, id_sizes[] = {2};
  tdm_tensor* index = nullptr;
  ASSERT_OK(tdm_tensor_from_data(ids, sizeof ids, TDM_DTYPE_INT64, id_sizes, 1, &index));
  const Tensor owned(index);
  const std::vector<tdm_tensor*> indices{nullptr, index};
  const Tensor columns = call("aten::index", "Tensor", {of(b), list(TDM_VALUE_TENSOR_LIST, indices)});
  EXPECT_THAT(floats(columns.get()), ElementsAre(1, 3, 4, 6));

  // Scalar[] and float[]
  const std::vector<tdm_value> scalars{of(2), of(0.5)};
  tdm_value scaled{};
  ASSERT_OK(calls::call(find("aten::_foreach_mul", "ScalarList"),
                        {list(TDM_VALUE_TENSOR_LIST, two), list(TDM_VALUE_SCALAR_LIST, scalars)}, &scaled));
  EXPECT_FLOAT_EQ(floats(static_cast<tdm_tensor* const*>(scaled.as.list.data)[1])[5], 3);
  tdm_value_clear(&scaled);
  const Tensor square = tensor({1, 2, 3, 4}, {1, 1, 2, 2});
  const std::vector<double> factors{2.0, 2.0};
  const Tensor larger = call("aten::upsample_nearest2d", "vec",
                             {of(square), tagged(TDM_VALUE_NONE), list(TDM_VALUE_DOUBLE_LIST, factors)});
  EXPECT_THAT(sizes(larger.get()), ElementsAre(1, 1, 4, 4));
}

TEST(OpCall, OptionalsEnumerationsAndStrings) {
  const std::vector<std::int64_t> shape{2};
  tdm_value cpu = tagged(TDM_VALUE_DEVICE);
  cpu.as.device = {TDM_DEVICE_CPU, -1};
  const Tensor ones = call("aten::ones", "",
                           {ints(shape), tagged(TDM_VALUE_DTYPE, TDM_DTYPE_FLOAT64),
                            tagged(TDM_VALUE_LAYOUT, TDM_LAYOUT_STRIDED), cpu, of(false)});
  EXPECT_EQ(tdm_tensor_get_dtype(ones.get()), TDM_DTYPE_FLOAT64);
  const Tensor same = call("aten::ones", "", {ints(shape), tagged(TDM_VALUE_NONE)});
  EXPECT_EQ(tdm_tensor_get_dtype(same.get()), TDM_DTYPE_FLOAT32);
  const Tensor image = tensor(std::vector<float>(8, 1), {1, 2, 2, 2});
  const Tensor last =
      call("aten::contiguous", "", {of(image), tagged(TDM_VALUE_MEMORY_FORMAT, TDM_MEMORY_FORMAT_CHANNELS_LAST)});
  EXPECT_EQ(tdm_tensor_is_contiguous(last.get()), 0);
  const Tensor x = tensor({1}, {1});
  const Tensor erf = call("aten::gelu", "", {of(x), of("none")});
  const Tensor tanh = call("aten::gelu", "", {of(x), of("tanh")});
  EXPECT_NEAR(floats(erf.get())[0], 0.8413447, 1e-5);
  EXPECT_NEAR(floats(tanh.get())[0], 0.8411920, 1e-5);
}

TEST(OpCall, ResultsThatAreNoTensors) {
  const Tensor a = tensor({1, 2}, {2});
  tdm_value result{};
  ASSERT_OK(calls::call(find("aten::equal"), {of(a), of(a)}, &result));
  EXPECT_EQ(result.tag, TDM_VALUE_BOOL);
  EXPECT_EQ(result.as.boolean, 1);
  ASSERT_OK(calls::call(find("aten::size", "int"), {of(a), of(0)}, &result));
  EXPECT_EQ(result.tag, TDM_VALUE_INT);
  EXPECT_EQ(result.as.integer, 2);
  ASSERT_OK(calls::call(find("aten::_local_scalar_dense"), {of(call("aten::sum", "", {of(a)}))}, &result));
  EXPECT_EQ(result.tag, TDM_VALUE_DOUBLE);
  EXPECT_EQ(result.as.real, 3);
  ASSERT_OK(calls::call(find("aten::result_type", "Tensor"), {of(a), of(a)}, &result));
  EXPECT_EQ(result.tag, TDM_VALUE_DTYPE);
  EXPECT_EQ(result.as.enumeration, TDM_DTYPE_FLOAT32);
  // No result at all.
  const Tensor gradient = tensor({1, 1}, {2});
  const std::vector<tdm_tensor*> parameters{a.get()}, gradients{gradient.get()}, none;
  ASSERT_OK(calls::call(
      find("aten::_fused_sgd_"),
      {list(TDM_VALUE_TENSOR_LIST, parameters), list(TDM_VALUE_TENSOR_LIST, gradients),
       list(TDM_VALUE_TENSOR_LIST, none), of(0.0), of(0.0), of(1.0), of(0.0), of(false), of(false), of(false)},
      nullptr));
  EXPECT_THAT(floats(a.get()), ElementsAre(0, 1));
}

TEST(OpCall, RefusesWithOperatorAndArgument) {
  const Tensor a = tensor({1, 2}, {2}), b = tensor({1, 2, 3}, {3});
  const tdm_op* add = find("aten::add", "Tensor");
  tdm_value result = of(17);
  const auto refused = [&](const std::vector<tdm_value>& arguments, const char* text) {
    const std::string why = message(calls::call(add, arguments, &result), TDM_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(why, testing::StartsWith("aten::add.Tensor: "));
    EXPECT_THAT(why, testing::HasSubstr(text));
    EXPECT_EQ(result.as.integer, 17);  // untouched
  };
  refused({}, "argument 'self' (Tensor) is missing");
  refused({of(a)}, "argument 'other' (Tensor) is missing");
  refused({of(a), of(a), of(1), of(1)}, "takes at most 3 arguments, 4 were given");
  refused({of(a), tagged(TDM_VALUE_NONE)}, "argument 'other' (Tensor) cannot be none");
  refused({of(a), tagged(TDM_VALUE_DEFAULT)}, "has no default");
  refused({of(a), of(3)}, "argument 'other' (Tensor) cannot be an int");
  refused({of(a), tagged(99)}, "the unknown tag 99");
  refused({of(a), tagged(-1)}, "the unknown tag -1");
  refused({of(a), of(static_cast<tdm_tensor*>(nullptr))}, "argument 'other' is NULL");
  refused({of(a), of(a), tagged(TDM_VALUE_INT_LIST)}, "argument 'alpha' (Scalar) cannot be a list of ints");
  refused({of(a), of(b)}, "size of tensor a (2) must match the size of tensor b (3)");
  EXPECT_REFUSED(tdm_op_call(add, nullptr, 2, &result, 1), TDM_ERROR_INVALID_ARGUMENT, "'arguments' is NULL");
  EXPECT_REFUSED(tdm_op_call(nullptr, nullptr, 0, &result, 1), TDM_ERROR_INVALID_ARGUMENT, "'op' is NULL");
  const tdm_value two[] = {of(a), of(a)};
  EXPECT_REFUSED(tdm_op_call(add, two, 2, nullptr, 1), TDM_ERROR_INVALID_ARGUMENT, "'results' is NULL");
  EXPECT_REFUSED(tdm_op_call(add, two, 2, &result, 2), TDM_ERROR_INVALID_ARGUMENT, "has 1 results");
  EXPECT_REFUSED(tdm_op_call(add, two, 2, &result, 0), TDM_ERROR_INVALID_ARGUMENT, "has 1 results");
}

TEST(OpCall, RefusesBadListsAndEnumerations) {
  const Tensor a = tensor({1, 2}, {2});
  tdm_value result{};
  tdm_value broken = tagged(TDM_VALUE_INT_LIST);
  broken.as.list = {nullptr, 3};
  EXPECT_REFUSED(calls::call(find("aten::view"), {of(a), broken}, &result), TDM_ERROR_INVALID_ARGUMENT, "NULL");
  const std::vector<tdm_tensor*> holes{a.get(), nullptr};
  EXPECT_REFUSED(calls::call(find("aten::cat"), {list(TDM_VALUE_TENSOR_LIST, holes)}, &result),
                 TDM_ERROR_INVALID_ARGUMENT, "[1] is NULL");
  const std::vector<std::int64_t> shape{2};
  EXPECT_REFUSED(calls::call(find("aten::ones"), {ints(shape), tagged(TDM_VALUE_DTYPE, 1000)}, &result),
                 TDM_ERROR_INVALID_ARGUMENT, "1000");
  EXPECT_REFUSED(
      calls::call(find("aten::ones"), {ints(shape), tagged(TDM_VALUE_NONE), tagged(TDM_VALUE_LAYOUT, 77)}, &result),
      TDM_ERROR_INVALID_ARGUMENT, "77");
  tdm_value device = tagged(TDM_VALUE_DEVICE);
  device.as.device = {99, 0};
  EXPECT_REFUSED(
      calls::call(find("aten::ones"), {ints(shape), tagged(TDM_VALUE_NONE), tagged(TDM_VALUE_NONE), device}, &result),
      TDM_ERROR_INVALID_ARGUMENT, "device type 99");
  const std::vector<std::int64_t> negative{-5}, huge{std::int64_t{1} << 62};
  EXPECT_REFUSED(calls::call(find("aten::ones"), {ints(negative)}, &result), TDM_ERROR_INVALID_ARGUMENT, "negative");
  EXPECT_NE(tdm_error_get_code(Error(calls::call(find("aten::ones"), {ints(huge)}, &result)).get()), 0);
  const std::vector<std::int64_t> large{std::int64_t{1} << 50};
  EXPECT_REFUSED(calls::call(find("aten::empty", "memory_format"), {ints(large)}, &result), TDM_ERROR_OUT_OF_MEMORY,
                 "allocate");
}

TEST(OpCall, RefusesNumbersForGeneratorsAndNamesOfDimensions) {
  const Tensor a = tensor({1, 2}, {2});
  tdm_value result{};
  EXPECT_REFUSED(calls::call(find("aten::bernoulli"), {of(a), of(3)}, &result), TDM_ERROR_INVALID_ARGUMENT,
                 "argument 'generator' (Generator?) cannot be an int");
  EXPECT_OK(calls::call(find("aten::bernoulli"), {of(call("aten::zeros_like", "", {of(a)})), tagged(TDM_VALUE_NONE)},
                        &result));
  tdm_value_clear(&result);
  const std::vector<const char*> names{"N"};
  const tdm_op* named = nullptr;
  tdm_error* missing = tdm_op_find("aten::sum", "dim_DimnameList", &named);
  if (missing) {  // LibTorch 2.15 has no such overloads any more
    EXPECT_REFUSED(missing, TDM_ERROR_NOT_FOUND, tdm_libtorch_version());
    EXPECT_STRNE(tdm_libtorch_version(), "2.11.0");
    return;
  }
  EXPECT_REFUSED(calls::call(named, {of(a), list(TDM_VALUE_STRING_LIST, names)}, &result), TDM_ERROR_UNSUPPORTED,
                 "names of dimensions");
}

TEST(OpCall, EverySchemaOfLibTorchCompiles) {
  // What front ends generate their typed methods from: a sample of each argument type's corner.
  for (const auto& [name, overload] :
       std::vector<std::pair<const char*, const char*>>{{"aten::conv2d", ""},
                                                        {"aten::conv2d", "padding"},
                                                        {"aten::batch_norm", ""},
                                                        {"aten::lstm", "input"},
                                                        {"aten::embedding", ""},
                                                        {"aten::nll_loss", ""},
                                                        {"aten::scaled_dot_product_attention", ""},
                                                        {"aten::index_put_", ""},
                                                        {"aten::to", "dtype_layout"},
                                                        {"aten::histogramdd", ""},
                                                        {"aten::rand", "generator"},
                                                        {"aten::einsum", ""},
                                                        {"aten::stft", ""},
                                                        {"aten::_fused_adam_", ""}}) {
    EXPECT_NE(find(name, overload), nullptr);
  }
}

TEST(OpCall, HotLoop) {
  const Tensor a = tensor(std::vector<float>(16, 1), {4, 4});
  const tdm_op* add = find("aten::add", "Tensor");
  const tdm_value arguments[] = {of(a), of(a)};
  constexpr int kCalls = 200000;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; i += 100) {
    tdm_scope* scope = nullptr;
    ASSERT_EQ(tdm_scope_enter(&scope), nullptr);
    for (int j = 0; j < 100; ++j) {
      tdm_value result;
      ASSERT_EQ(tdm_op_call(add, arguments, 2, &result, 1), nullptr);
    }
    tdm_scope_exit(scope);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("4x4 add in a scope: %.3f us a call\n", seconds / kCalls * 1e6);
}

}  // namespace
}  // namespace operators_test
