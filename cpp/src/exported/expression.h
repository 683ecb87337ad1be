// Sizes that depend on others, as SymPy writes expressions: "Mul(Integer(2), Symbol('s0', integer=True))".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::exported {

// The sizes that are known, by symbol.
using Symbols = std::map<std::string, std::int64_t>;

class Expression {
 public:
  // Nothing where the text is no such expression.
  static std::optional<Expression> parse(std::string_view text);

  // Nothing where a symbol is not known, the result is no integer of 64 bits, or a function is not one of Add, Mul, Pow,
  // FloorDiv, CleanDiv, Mod, PythonMod, Min and Max.
  std::optional<std::int64_t> evaluate(const Symbols& symbols) const;

  // Of an expression with one symbol that is not known, and grows by a fixed step with it, that symbol's value for which
  // it is `wanted`. Nothing where it is another expression, or no integer does.
  struct Solution {
    std::string symbol;
    std::int64_t value;
  };
  std::optional<Solution> solve(const Symbols& symbols, std::int64_t wanted) const;

  // As people write it: "2*s0 + 1".
  std::string shown() const;

 private:
  friend class ExpressionParser;
  void find_unknown(const Symbols& symbols, std::vector<std::string>& unknown) const;

  std::string function_;  // "Symbol", "Integer", "Add", …
  std::string symbol_;
  std::int64_t number_ = 0;
  std::vector<Expression> parts_;
};

}  // namespace tandem::exported
