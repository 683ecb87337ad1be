#include "exported/expression.h"

#include <gtest/gtest.h>

namespace tandem::exported {
namespace {

std::optional<std::int64_t> value(const std::string& text, const Symbols& symbols = {}) {
  const auto expression = Expression::parse(text);
  EXPECT_TRUE(expression) << text;
  return expression ? expression->evaluate(symbols) : std::nullopt;
}

const std::string kS = "Symbol('s0', positive=True, integer=True)";

TEST(Expressions, AreComputedAsSymPyDoes) {
  EXPECT_EQ(value("Add(Mul(Integer(2), " + kS + "), Integer(-1))", {{"s0", 5}}), 9);
  EXPECT_EQ(value("FloorDiv(Add(" + kS + ", Integer(-8)), Integer(3))", {{"s0", 1}}), -3);
  EXPECT_EQ(value("Mod(Add(" + kS + ", Integer(-8)), Integer(3))", {{"s0", 1}}), 2);
  EXPECT_EQ(value("PythonMod(Integer(-7), Integer(-3))"), -1);
  EXPECT_EQ(value("Pow(" + kS + ", Integer(3))", {{"s0", -2}}), -8);
  EXPECT_EQ(value("Max(Integer(1), Integer(4), Min(Integer(3), Integer(9)))"), 4);
}

TEST(Expressions, WithoutAValueHaveNone) {
  EXPECT_EQ(value(kS), std::nullopt);
  EXPECT_EQ(value("FloorDiv(Integer(1), Integer(0))"), std::nullopt);
  EXPECT_EQ(value("Mul(Integer(9223372036854775807), Integer(2))"), std::nullopt);
  EXPECT_EQ(value("FloorDiv(Integer(-9223372036854775808), Integer(-1))"), std::nullopt);
  EXPECT_EQ(value("Pow(Integer(10), Integer(19))"), std::nullopt);
  EXPECT_EQ(value("Sin(Integer(1), Integer(2))"), std::nullopt);
}

TEST(Expressions, AreSolvedForTheirUnknownSymbol) {
  const auto twice = Expression::parse("Add(Mul(Integer(2), " + kS + "), Symbol('s1', integer=True))");
  ASSERT_TRUE(twice);
  EXPECT_FALSE(twice->solve({}, 8));
  const auto found = twice->solve({{"s1", 2}}, 8);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->symbol, "s0");
  EXPECT_EQ(found->value, 3);
  EXPECT_FALSE(twice->solve({{"s1", 2}}, 9));
  EXPECT_FALSE(Expression::parse("Pow(" + kS + ", Integer(2))")->solve({}, 9));
  EXPECT_FALSE(Expression::parse("Max(" + kS + ", Integer(2))")->solve({}, 2));
  EXPECT_EQ(twice->shown(), "2*s0 + s1");
}

TEST(Expressions, ThatAreNoneAreNotRead) {
  for (const char* text : {"", "Integer", "Integer(", "Integer()", "Integer(1", "Integer(1))", "Integer(99999999999999999999)",
                           "Symbol('a)", "Symbol(a)", "Symbol('a', =True)", "Add()", "Add(Integer(1),)", "Add(Integer(1) Integer(2))",
                           "__import__('os')"}) {
    EXPECT_FALSE(Expression::parse(text)) << text;
  }
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "Add(";
  EXPECT_FALSE(Expression::parse(deep + "Integer(1)" + std::string(100, ')')));
}

}  // namespace
}  // namespace tandem::exported
