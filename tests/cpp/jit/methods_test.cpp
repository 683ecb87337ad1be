// Methods, and the values that they take and give.
#include "cpp/jit/files.h"

namespace tandem::testing::jit_methods_test {
namespace {

using test::jit_file;
using ::testing::ElementsAre;

std::shared_ptr<jit::ScriptModule> nested() {
  return jit::load(jit_file("nested.pt"));
}

at::IValue tuple(std::vector<at::IValue> elements) {
  return c10::ivalue::Tuple::create(std::move(elements));
}

// As who knows no types has them.
at::IValue list(const std::vector<at::IValue>& elements) {
  c10::impl::GenericList made(c10::AnyType::get());
  for (const at::IValue& one : elements) made.push_back(one);
  return made;
}
at::IValue dict(const std::vector<std::pair<at::IValue, at::IValue>>& items) {
  c10::impl::GenericDict made(c10::AnyType::get(), c10::AnyType::get());
  for (const auto& [key, value] : items) made.insert(key, value);
  return made;
}

at::Tensor number(double value) {
  return at::tensor({value}, at::kDouble);
}

TEST(Methods, AreListed) {
  const auto module = nested();
  EXPECT_THAT(module->methods(), ElementsAre("check", "forward", "numbers", "point", "product", "shift"));
  EXPECT_EQ(module->schema("shift"), "shift(x: Tensor, by: Optional[int] = None) -> Tensor");
  EXPECT_ERROR(module->schema("hide"), ErrorCode::kNotFound, "no method 'hide'", "check, forward, numbers");
  EXPECT_ERROR(module->call("hide", {}), ErrorCode::kNotFound, "no method 'hide'");
}

TEST(Methods, TakeAndGiveNestedValues) {
  const auto module = nested();
  const at::IValue result = module->forward(tuple({number(1), number(2)}), list({number(3), number(4)}),
                                            dict({{"a", number(5)}, {"b", number(6)}}), 10);
  const auto given = result.toGenericDict();
  const auto& all = given.at("all").toTupleRef().elements();
  EXPECT_EQ(all[0].toTensor().item<double>(), 12);
  EXPECT_EQ(all[1].toTensorVector()[0].item<double>(), 6);
  EXPECT_EQ(all[1].toTensorVector()[1].item<double>(), 8);
  const auto& named = given.at("named").toTupleRef().elements();
  EXPECT_EQ(named[0].toTensor().item<double>(), 11);
  EXPECT_EQ(named[1].toTensorVector().size(), 2u);

  const at::IValue numbers =
      module->call("numbers", {list({1, 2}), dict({{7, 0.5}, {8, 2}}), list({"x"}), list({list({1, 2, 3}), list({})})});
  const auto& parts = numbers.toTupleRef().elements();
  EXPECT_EQ(parts[0].toInt(), 3);
  EXPECT_THAT(parts[1].toGenericDict().at("x").toDoubleVector(), ElementsAre(0.5, 2));
  EXPECT_THAT(parts[2].toListRef()[0].toIntVector(), ElementsAre(3, 2, 1));
  EXPECT_TRUE(parts[3].toBool());

  const auto point = module->call("point", {tuple({number(3), 2.0})});
  EXPECT_EQ(point.toTupleRef().elements()[0].toTensor().item<double>(), 6);
  EXPECT_EQ(point.toTupleRef().elements()[1].toDouble(), 3);
}

TEST(Methods, HaveDefaults) {
  const auto module = nested();
  EXPECT_EQ(module->call("shift", {number(1)}).toTensor().item<double>(), 1);
  EXPECT_EQ(module->call("shift", {number(1), at::IValue()}).toTensor().item<double>(), 1);
  EXPECT_EQ(module->call("shift", {number(1), 4}).toTensor().item<double>(), 5);
}

TEST(Methods, RefuseOtherArgumentsWithTheirSchema) {
  const auto module = nested();
  const std::string schema = "shift(x: Tensor, by: Optional[int] = None) -> Tensor";
  EXPECT_ERROR(module->call("shift", {}), ErrorCode::kInvalidArgument, "shift: argument 'x' is missing", schema);
  EXPECT_ERROR(module->call("shift", {number(1), 1, 2}), ErrorCode::kInvalidArgument, "at most 2 arguments, and 3",
               schema);
  EXPECT_ERROR(module->call("shift", {3}), ErrorCode::kInvalidArgument,
               "argument 'x' must be of type Tensor, and is an int", schema);
  EXPECT_ERROR(module->call("shift", {number(1), 1.5}), ErrorCode::kInvalidArgument,
               "'by' must be of type int, and is a float");
  EXPECT_ERROR(module->call("numbers", {list({}), dict({}), list({}), list({list({1}), list({2, "x"})})}),
               ErrorCode::kInvalidArgument, "argument 'rows[1][1]' must be of type int, and is a str");
  EXPECT_ERROR(module->call("numbers", {list({}), dict({{1, 2.0}, {2, number(1)}}), list({}), list({})}),
               ErrorCode::kInvalidArgument, "argument 'table[2]' must be of type float, and is a Tensor");
  EXPECT_ERROR(module->forward(tuple({number(1)}), list({}), dict({})), ErrorCode::kInvalidArgument,
               "argument 'pair' must be of type Tuple[Tensor, Tensor], and is a tuple of 1");
}

TEST(Methods, WhatTheyRaiseIsAnError) {
  const auto module = nested();
  const std::string raised = [&] {
    try {
      module->call("check", {number(-1)});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return std::string(error.what());
    }
    return std::string("nothing");
  }();
  EXPECT_THAT(raised, ::testing::MatchesRegex(
                          "check: ValueError: an element is negative \\(code/__torch__.py, line [0-9]+, in check\\)"));
  EXPECT_EQ(module->call("check", {number(4)}).toTensor().item<double>(), 2);
  EXPECT_ERROR(module->call("product", {at::ones({2, 3}), at::ones({4, 5})}), ErrorCode::kInvalidArgument,
               "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5) (code/__torch__.py, line ");
}

}  // namespace
}  // namespace tandem::testing::jit_methods_test
