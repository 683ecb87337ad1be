// Nodes that compute sizes and conditions as Python does: _operator.add, math.ceil, torch.sym_max …
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "exported/floor_quotient.h"
#include "exported/graph.h"

namespace tandem::exported {
namespace {

using Values = std::vector<at::IValue>;
using Function = at::IValue (*)(const Values&);

bool is_real(const Values& values) {
  for (const at::IValue& value : values) {
    if (value.isDouble()) return true;
  }
  return false;
}

double as_real(const at::IValue& value) {
  if (value.isBool()) return value.toBool();
  return value.isInt() ? static_cast<double>(value.toInt()) : value.toDouble();
}

std::int64_t as_integer(const at::IValue& value) {
  return value.isBool() ? value.toBool() : value.toInt();
}

bool as_truth(const at::IValue& value) {
  if (value.isTensor()) return value.toTensor().item().toBool();
  return value.isBool() ? value.toBool() : as_real(value) != 0;
}

[[noreturn]] void overflow() {
  throw Error(ErrorCode::kOutOfRange, "a size comes to more than an integer of 64 bits holds");
}

std::int64_t floored(double value) {
  // The least double that is too large.
  if (!(std::abs(value) < 9223372036854775808.0)) overflow();
  return static_cast<std::int64_t>(value);
}

void check_divisor(bool is_zero) {
  if (is_zero) throw Error(ErrorCode::kInvalidArgument, "a size is divided by 0");
}

std::int64_t checked_quotient(std::int64_t a, std::int64_t b) {
  check_divisor(b == 0);
  if (b == -1 && a == std::numeric_limits<std::int64_t>::min()) overflow();
  return floor_quotient(a, b);
}

// An operation on integers that tells of overflow, and one on reals.
template <bool (*kIntegers)(std::int64_t, std::int64_t, std::int64_t*), double (*kReals)(double, double)>
at::IValue arithmetic(const Values& values) {
  if (is_real(values)) return kReals(as_real(values[0]), as_real(values[1]));
  std::int64_t result = 0;
  if (kIntegers(as_integer(values[0]), as_integer(values[1]), &result)) overflow();
  return result;
}
bool add_integers(std::int64_t a, std::int64_t b, std::int64_t* to) { return __builtin_add_overflow(a, b, to); }
bool subtract_integers(std::int64_t a, std::int64_t b, std::int64_t* to) { return __builtin_sub_overflow(a, b, to); }
bool multiply_integers(std::int64_t a, std::int64_t b, std::int64_t* to) { return __builtin_mul_overflow(a, b, to); }
double add_reals(double a, double b) { return a + b; }
double subtract_reals(double a, double b) { return a - b; }
double multiply_reals(double a, double b) { return a * b; }

at::IValue true_quotient(const Values& values) {
  check_divisor(as_real(values[1]) == 0);
  return as_real(values[0]) / as_real(values[1]);
}

at::IValue floor_division(const Values& values) {
  if (!is_real(values)) return checked_quotient(as_integer(values[0]), as_integer(values[1]));
  check_divisor(as_real(values[1]) == 0);
  return std::floor(as_real(values[0]) / as_real(values[1]));
}

// With the divisor's sign, as Python has it.
at::IValue modulo(const Values& values) {
  if (!is_real(values)) {
    const std::int64_t a = as_integer(values[0]), b = as_integer(values[1]);
    check_divisor(b == 0);
    return b == -1 ? std::int64_t{0} : a - b * floor_quotient(a, b);
  }
  const double b = as_real(values[1]);
  check_divisor(b == 0);
  const double rest = std::fmod(as_real(values[0]), b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

at::IValue power(const Values& values) {
  if (is_real(values) || as_integer(values[1]) < 0) return std::pow(as_real(values[0]), as_real(values[1]));
  std::int64_t result = 1;
  std::int64_t base = as_integer(values[0]);
  for (std::int64_t left = as_integer(values[1]); left > 0; left /= 2) {
    if (left % 2 != 0 && __builtin_mul_overflow(result, base, &result)) overflow();
    if (left > 1 && __builtin_mul_overflow(base, base, &base)) overflow();
  }
  return result;
}

at::IValue conjunction(const Values& values) {
  if (values[0].isBool() && values[1].isBool()) return values[0].toBool() && values[1].toBool();
  return as_integer(values[0]) & as_integer(values[1]);
}

at::IValue disjunction(const Values& values) {
  if (values[0].isBool() && values[1].isBool()) return values[0].toBool() || values[1].toBool();
  return as_integer(values[0]) | as_integer(values[1]);
}

std::int64_t shift_of(const Values& values) {
  const std::int64_t by = as_integer(values[1]);
  if (by < 0) throw Error(ErrorCode::kInvalidArgument, "a size is shifted by " + std::to_string(by));
  return by;
}

at::IValue left_shift(const Values& values) {
  const std::int64_t by = shift_of(values), value = as_integer(values[0]);
  std::int64_t result = 0;
  if (value == 0) return result;
  if (by > 62 || __builtin_mul_overflow(value, std::int64_t{1} << by, &result)) overflow();
  return result;
}

at::IValue right_shift(const Values& values) {
  return as_integer(values[0]) >> std::min<std::int64_t>(shift_of(values), 63);
}

at::IValue negative(const Values& values) {
  return is_real(values) ? at::IValue(-as_real(values[0])) : arithmetic<subtract_integers, subtract_reals>({0, values[0]});
}

// Integers are compared as such: not all have a double of their own.
template <typename Compare>
at::IValue compared(const Values& values) {
  return is_real(values) ? Compare()(as_real(values[0]), as_real(values[1]))
                         : Compare()(as_integer(values[0]), as_integer(values[1]));
}
template <typename Compare>
at::IValue chosen(const Values& values) {
  return compared<Compare>(values).toBool() ? values[0] : values[1];
}

template <double (*kRound)(double)>
at::IValue rounded(const Values& values) {
  return is_real(values) ? floored(kRound(as_real(values[0]))) : as_integer(values[0]);
}

at::IValue element(const Values& values) {
  const std::int64_t index = as_integer(values[1]);
  const auto pick = [&](const auto& elements) -> at::IValue {
    const auto size = static_cast<std::int64_t>(elements.size());
    if (index < -size || index >= size) throw Error(ErrorCode::kOutOfRange, "there is no element " + std::to_string(index));
    return elements[static_cast<std::size_t>(index < 0 ? index + size : index)];
  };
  return values[0].isTuple() ? pick(values[0].toTupleRef().elements()) : pick(values[0].toListRef());
}

struct Known {
  std::size_t arguments;
  Function function;
};

const std::unordered_map<std::string, Known>& python_functions() {
  static const std::unordered_map<std::string, Known> known = {
      {"_operator.add", {2, arithmetic<add_integers, add_reals>}},
      {"_operator.sub", {2, arithmetic<subtract_integers, subtract_reals>}},
      {"_operator.mul", {2, arithmetic<multiply_integers, multiply_reals>}},
      {"_operator.truediv", {2, true_quotient}},
      {"_operator.floordiv", {2, floor_division}},
      {"_operator.mod", {2, modulo}},
      {"_operator.pow", {2, power}},
      {"_operator.neg", {1, negative}},
      {"_operator.pos", {1, [](const Values& values) { return values[0]; }}},
      {"_operator.eq", {2, compared<std::equal_to<>>}},
      {"_operator.ne", {2, compared<std::not_equal_to<>>}},
      {"_operator.lt", {2, compared<std::less<>>}},
      {"_operator.le", {2, compared<std::less_equal<>>}},
      {"_operator.gt", {2, compared<std::greater<>>}},
      {"_operator.ge", {2, compared<std::greater_equal<>>}},
      {"_operator.and_", {2, conjunction}},
      {"_operator.or_", {2, disjunction}},
      {"_operator.lshift", {2, left_shift}},
      {"_operator.rshift", {2, right_shift}},
      {"_operator.not_", {1, [](const Values& values) -> at::IValue { return !as_truth(values[0]); }}},
      {"_operator.getitem", {2, element}},
      {"math.ceil", {1, rounded<std::ceil>}},
      {"math.floor", {1, rounded<std::floor>}},
      {"math.trunc", {1, rounded<std::trunc>}},
      {"builtins.round", {1, rounded<std::nearbyint>}},
      {"math.sqrt", {1, [](const Values& values) -> at::IValue { return std::sqrt(as_real(values[0])); }}},
      {"torch.sym_sqrt", {1, [](const Values& values) -> at::IValue { return std::sqrt(as_real(values[0])); }}},
      {"torch._sym_sqrt", {1, [](const Values& values) -> at::IValue { return std::sqrt(as_real(values[0])); }}},
      {"torch.sym_float", {1, [](const Values& values) -> at::IValue { return as_real(values[0]); }}},
      {"torch.sym_int", {1, rounded<std::trunc>}},
      {"torch.sym_not", {1, [](const Values& values) -> at::IValue { return !as_truth(values[0]); }}},
      {"torch.sym_max", {2, chosen<std::greater_equal<>>}},
      {"torch.sym_min", {2, chosen<std::less_equal<>>}},
      {"torch.sym_ite", {3, [](const Values& values) { return as_truth(values[0]) ? values[1] : values[2]; }}},
  };
  return known;
}

class PythonStep final : public Step {
 public:
  PythonStep(Function function, std::vector<Operand> arguments, Results results)
      : function_(function), arguments_(std::move(arguments)), results_(std::move(results)) {}

  void run(Frame& frame) const override {
    Values values;
    for (const Operand& argument : arguments_) values.push_back(argument.value(frame));
    const at::IValue result = function_(values);
    results_.put(&result, 1, frame);
  }

 private:
  const Function function_;
  const std::vector<Operand> arguments_;
  const Results results_;
};

}  // namespace

std::unique_ptr<Step> make_python_step(const NodeParts& parts, const Json& outputs) {
  const auto found = python_functions().find(parts.target);
  if (found == python_functions().end()) return nullptr;
  std::vector<Operand> arguments;
  for (const Json& input : parts.inputs) arguments.push_back(parts.operand(member(input, "arg", parts.where)));
  if (arguments.size() != found->second.arguments) {
    damaged(parts.where, "has " + std::to_string(arguments.size()) + " arguments, and takes " +
                             std::to_string(found->second.arguments));
  }
  Results results = Results::parse(outputs, parts.names, parts.where);
  results.add_slots(parts.reads);
  return std::make_unique<PythonStep>(found->second.function, std::move(arguments), std::move(results));
}

}  // namespace tandem::exported
