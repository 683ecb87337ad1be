// Values that an operator, a module or an option does not take: the message names the argument, says what it takes and
// what it was given.
#include <limits>

#include "capi/calls.h"

namespace values_test {
namespace {

using namespace calls;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::size_t kEndless = std::numeric_limits<std::size_t>::max();

class Values : public testing::Test {
 protected:
  std::string refused(const char* name, const char* overload, const std::vector<tdm_value>& arguments,
                      tdm_error_code code = TDM_ERROR_INVALID_ARGUMENT) {
    tdm_value result{};
    return message(call(find(name, overload), arguments, &result), code);
  }

  const LeakCheck leaks;
  const Tensor one = tensor({1, 2}, {2});
};

TEST_F(Values, NameArgumentTypeAndPlace) {
  EXPECT_EQ(refused("aten::add", "Tensor", {of(one), of("text")}),
            "aten::add.Tensor: argument 'other' (Tensor) cannot be a string (argument 2)");
  EXPECT_EQ(refused("aten::sum", "dim_IntList", {of(one), list<double>(TDM_VALUE_DOUBLE_LIST, {0.5})}),
            "aten::sum.dim_IntList: argument 'dim' (int[]?) cannot be a list of doubles (argument 2)");
  EXPECT_THAT(refused("aten::cat", "", {of(one)}),
              StartsWith("aten::cat: argument 'tensors' (Tensor[]) cannot be a tensor (argument 1)"));
  EXPECT_THAT(refused("aten::index_select", "", {of(one), of(0.5), of(one)}),
              HasSubstr("argument 'dim' (int) cannot be a double (argument 2)"));
  EXPECT_THAT(refused("aten::add", "Tensor", {of(one), tagged(1234)}), HasSubstr("a value with the unknown tag 1234"));
}

TEST_F(Values, NameTheElementOfAList) {
  const std::vector<tdm_tensor*> holes = {one.get(), nullptr};
  EXPECT_EQ(refused("aten::cat", "", {list(TDM_VALUE_TENSOR_LIST, holes)}), "aten::cat: argument 'tensors'[1] is NULL");
  const Module linear = module("Linear", {option("in_features", of(2)), option("out_features", of(1))});
  const std::vector<tdm_tensor*> modules = {one.get(), reinterpret_cast<tdm_tensor*>(linear.get())};
  EXPECT_EQ(refused("aten::cat", "", {list(TDM_VALUE_TENSOR_LIST, modules)}),
            "aten::cat: argument 'tensors'[1] is a module handle; it takes a tensor");
  const std::vector<const char*> texts = {"ij,jk", nullptr};
  EXPECT_THAT(refused("aten::einsum", "", {list(TDM_VALUE_STRING_LIST, texts), tagged(TDM_VALUE_TENSOR_LIST)}),
              HasSubstr("argument 'equation' (str) cannot be a list of strings"));
  const std::vector<tdm_value> scalars = {of(1), of("two")};
  EXPECT_EQ(
      refused("aten::_foreach_add", "ScalarList",
              {list(TDM_VALUE_TENSOR_LIST, std::vector<tdm_tensor*>{one.get()}), list(TDM_VALUE_SCALAR_LIST, scalars)}),
      "aten::_foreach_add.ScalarList: argument 'scalars[1]' must be a number, not a string");
}

TEST_F(Values, RefuseListsThatCannotBe) {
  for (const tdm_value_tag tag : {TDM_VALUE_BOOL_LIST, TDM_VALUE_INT_LIST, TDM_VALUE_DOUBLE_LIST, TDM_VALUE_STRING_LIST,
                                  TDM_VALUE_SCALAR_LIST, TDM_VALUE_TENSOR_LIST}) {
    SCOPED_TRACE(tag);
    const tdm_tensor* element = one.get();
    tdm_value empty = tagged(tag), endless = tagged(tag);
    empty.as.list = {nullptr, 1};
    endless.as.list = {&element, kEndless};
    // Options take any value, and then say which type they want.
    for (const tdm_value& value : {empty, endless}) {
      const tdm_option given = option("in_features", value);
      tdm_module* made = nullptr;
      EXPECT_REFUSED(tdm_module_create("Linear", &given, 1, &made), TDM_ERROR_INVALID_ARGUMENT, "'in_features'");
    }
  }
  tdm_value endless = of("x");
  endless.as.string.size = kEndless;
  EXPECT_THAT(refused("aten::einsum", "", {endless, tagged(TDM_VALUE_TENSOR_LIST)}),
              HasSubstr("argument 'equation' cannot be a string of 18446744073709551615 bytes"));
}

TEST_F(Values, RefuseFreedAndForeignHandles) {
  Tensor freed = tensor({1}, {1});
  tdm_tensor* gone = freed.get();
  freed.reset();
  EXPECT_THAT(refused("aten::neg", "", {of(gone)}, TDM_ERROR_CLOSED),
              HasSubstr("argument 'self' is a tensor handle that was freed"));
  const tdm_op* neg = find("aten::neg");
  EXPECT_EQ(refused("aten::neg", "", {of(reinterpret_cast<tdm_tensor*>(const_cast<tdm_op*>(neg)))}),
            "aten::neg: argument 'self' is an operator handle; it takes a tensor");
  std::uint64_t elsewhere[8] = {};
  EXPECT_EQ(refused("aten::neg", "", {of(reinterpret_cast<tdm_tensor*>(elsewhere))}),
            "aten::neg: argument 'self' is no handle of Tandem's; it takes a tensor");
  tdm_value generator = tagged(TDM_VALUE_GENERATOR);
  generator.as.generator = reinterpret_cast<tdm_generator*>(one.get());
  EXPECT_THAT(refused("aten::rand", "generator", {ints({1}), generator}),
              HasSubstr("argument 'generator' is a tensor handle; it takes a generator"));
}

TEST_F(Values, SizesThatNoMemoryHolds) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  tdm_value result{};
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{kMost}, {kMost, kMost}, {-1}, {1LL << 40, 1LL << 40}}) {
    tdm_error* error = call(find("aten::zeros"), {ints(sizes)}, &result);
    ASSERT_NE(error, nullptr);
    EXPECT_THAT(tdm_error_message(error), StartsWith("aten::zeros: "));
    EXPECT_NE(tdm_error_get_code(error), TDM_ERROR_INTERNAL) << tdm_error_message(error);
    tdm_error_free(error);
  }
  EXPECT_REFUSED(call(find("aten::empty", "memory_format"), {ints({1LL << 46})}, &result), TDM_ERROR_OUT_OF_MEMORY,
                 "aten::empty.memory_format: ");
}

TEST_F(Values, TextsWithAnyBytes) {
  tdm_value text = of("ij");
  text.as.string = {"i\0j", 3};
  EXPECT_THAT(refused("aten::einsum", "", {text, list(TDM_VALUE_TENSOR_LIST, std::vector<tdm_tensor*>{one.get()})}),
              StartsWith("aten::einsum: "));
  EXPECT_THAT(
      refused("aten::einsum", "", {of("\xff\xfe"), list(TDM_VALUE_TENSOR_LIST, std::vector<tdm_tensor*>{one.get()})}),
      StartsWith("aten::einsum: "));
}

TEST_F(Values, ClearWhatIsNoResult) {
  tdm_value unknown = tagged(99);
  tdm_value_clear(&unknown);
  EXPECT_EQ(unknown.tag, TDM_VALUE_NONE);
  tdm_value_clear(&unknown);
  tdm_value_clear(nullptr);
}

TEST_F(Values, ModulesNameTheirArguments) {
  const Module linear = module("Linear", {option("in_features", of(2)), option("out_features", of(1))});
  const auto forward = [&](const std::vector<tdm_value>& arguments) {
    tdm_value result{};
    std::size_t count = 1;
    return message(tdm_module_forward(linear.get(), arguments.data(), arguments.size(), &result, &count),
                   TDM_ERROR_INVALID_ARGUMENT);
  };
  EXPECT_EQ(forward({of(static_cast<tdm_tensor*>(nullptr))}), "Linear: argument 'arguments[0]' is NULL");
  EXPECT_THAT(forward({of(one), tagged(55)}),
              HasSubstr("argument 'arguments[1]' cannot be a value with the unknown tag 55"));
  EXPECT_THAT(forward({}), StartsWith("Linear: "));
  EXPECT_THAT(forward({of("text")}), StartsWith("Linear: "));
  EXPECT_THAT(forward({of(one), of(one), of(one)}), StartsWith("Linear: "));
}

TEST_F(Values, OptionsNameThemselves) {
  const auto make = [](const std::vector<tdm_option>& options) {
    tdm_module* made = nullptr;
    return message(tdm_module_create("Linear", options.data(), options.size(), &made), TDM_ERROR_INVALID_ARGUMENT);
  };
  EXPECT_EQ(make({option(nullptr, of(1))}), "Linear: argument 'options[0].name' is NULL");
  EXPECT_THAT(make({option("in_features", of("two")), option("out_features", of(1))}),
              HasSubstr("option 'in_features' must be an integer, not the string 'two'"));
  EXPECT_THAT(make({option("in_features", of(-3)), option("out_features", of(1))}),
              StartsWith("Linear: Trying to create tensor with negative dimension -3"));
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  tdm_module* made = nullptr;
  const tdm_option vast[] = {option("in_features", of(kMost)), option("out_features", of(kMost))};
  tdm_error* error = tdm_module_create("Linear", vast, 2, &made);
  ASSERT_NE(error, nullptr);
  EXPECT_NE(tdm_error_get_code(error), TDM_ERROR_INTERNAL) << tdm_error_message(error);
  tdm_error_free(error);
}

}  // namespace
}  // namespace values_test
