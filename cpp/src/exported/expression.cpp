#include "exported/expression.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "exported/floor_quotient.h"

namespace tandem::exported {
namespace {

constexpr int kDeepest = 64;

std::optional<std::int64_t> combine(const std::string& function, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (function == "Add") return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (function == "Mul") return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (function == "Min") return std::min(a, b);
  if (function == "Max") return std::max(a, b);
  if (function == "Pow") {
    if (b < 0 || b > 62) return std::nullopt;
    result = 1;
    for (std::int64_t i = 0; i < b; ++i) {
      if (__builtin_mul_overflow(result, a, &result)) return std::nullopt;
    }
    return result;
  }
  // The least integer divided by -1 is none.
  if (b == 0 || b == -1) return std::nullopt;
  if (function == "FloorDiv" || function == "CleanDiv") return floor_quotient(a, b);
  if (function == "Mod" || function == "PythonMod") return a - b * floor_quotient(a, b);
  return std::nullopt;
}

}  // namespace

class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : rest_(text) {}

  std::optional<Expression> whole() {
    auto result = next(0);
    return result && rest_.empty() ? result : std::nullopt;
  }

 private:
  void skip_spaces() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  bool take(char wanted) {
    skip_spaces();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view take_while(const std::function<bool(char)>& is_part) {
    skip_spaces();
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_part);
    const std::string_view taken(rest_.begin(), end);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view word() {
    return take_while([](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
  }

  std::optional<std::int64_t> number() {
    const std::string_view digits = take_while([](char c) { return c == '-' || (c >= '0' && c <= '9'); });
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return failure == std::errc() && end == digits.data() + digits.size() ? std::optional(value) : std::nullopt;
  }

  // Symbol('s0', positive=True, integer=True)
  std::optional<Expression> symbol(Expression made) {
    if (!take('\'')) return std::nullopt;
    made.symbol_ = take_while([](char c) { return c != '\''; });
    if (!take('\'')) return std::nullopt;
    while (take(',')) {
      if (word().empty() || !take('=') || word().empty()) return std::nullopt;
    }
    return take(')') ? std::optional(std::move(made)) : std::nullopt;
  }

  std::optional<Expression> next(int depth) {
    if (depth == kDeepest) return std::nullopt;
    Expression made;
    made.function_ = word();
    if (made.function_.empty() || !take('(')) return std::nullopt;
    if (made.function_ == "Symbol") return symbol(std::move(made));
    if (made.function_ == "Integer") {
      const auto value = number();
      if (!value || !take(')')) return std::nullopt;
      made.number_ = *value;
      return made;
    }
    do {
      auto part = next(depth + 1);
      if (!part) return std::nullopt;
      made.parts_.push_back(std::move(*part));
    } while (take(','));
    return take(')') ? std::optional(std::move(made)) : std::nullopt;
  }

  std::string_view rest_;
};

std::optional<Expression> Expression::parse(std::string_view text) {
  return ExpressionParser(text).whole();
}

std::optional<std::int64_t> Expression::evaluate(const Symbols& symbols) const {
  if (function_ == "Integer") return number_;
  if (function_ == "Symbol") {
    const auto found = symbols.find(symbol_);
    return found == symbols.end() ? std::nullopt : std::optional(found->second);
  }
  if (parts_.size() < 2) return std::nullopt;
  auto result = parts_.front().evaluate(symbols);
  for (auto part = parts_.begin() + 1; result && part != parts_.end(); ++part) {
    const auto value = part->evaluate(symbols);
    result = value ? combine(function_, *result, *value) : std::nullopt;
  }
  return result;
}

void Expression::find_unknown(const Symbols& symbols, std::vector<std::string>& unknown) const {
  if (function_ == "Symbol" && !symbols.count(symbol_) &&
      std::find(unknown.begin(), unknown.end(), symbol_) == unknown.end()) {
    unknown.push_back(symbol_);
  }
  for (const Expression& part : parts_) part.find_unknown(symbols, unknown);
}

std::optional<Expression::Solution> Expression::solve(const Symbols& symbols, std::int64_t wanted) const {
  std::vector<std::string> unknown;
  find_unknown(symbols, unknown);
  if (unknown.size() != 1) return std::nullopt;
  Symbols tried = symbols;
  const auto at = [&](std::int64_t value) {
    tried[unknown.front()] = value;
    return evaluate(tried);
  };
  const auto zero = at(0), one = at(1), two = at(2);
  std::int64_t step = 0, next_step = 0, way = 0;
  if (!zero || !one || !two || __builtin_sub_overflow(*one, *zero, &step) ||
      __builtin_sub_overflow(*two, *one, &next_step) || step != next_step || step == 0 || step == -1 ||
      __builtin_sub_overflow(wanted, *zero, &way) || way % step != 0) {
    return std::nullopt;
  }
  const Solution found{unknown.front(), way / step};
  return at(found.value) == wanted ? std::optional(found) : std::nullopt;  // floor divisions are linear here and there
}

std::string Expression::shown() const {
  if (function_ == "Integer") return std::to_string(number_);
  if (function_ == "Symbol") return symbol_;
  const char* between = function_ == "Add" ? " + " : function_ == "Mul" ? "*" : nullptr;
  std::string result = between ? "" : function_ + "(";
  for (const Expression& part : parts_) {
    if (&part != &parts_.front()) result += between ? between : ", ";
    const bool is_sum = function_ == "Mul" && part.function_ == "Add";
    result += is_sum ? "(" + part.shown() + ")" : part.shown();
  }
  return between ? result : result + ")";
}

}  // namespace tandem::exported
