// LibTorch's operators, by name, for callers in other processes.
#include <torch/csrc/jit/runtime/operator.h>

#include <optional>
#include <string>

#include "jit/arguments.h"
#include "jit/errors.h"
#include "rpc/functions.h"

namespace tandem::rpc {
namespace {

using torch::jit::Operator;

constexpr int kMostTold = 5;  // overloads, in an error

// Into a tensor of the caller's, of which the callee has a copy: never without being named.
bool writes_to_given(const c10::FunctionSchema& schema) {
  return schema.overload_name().ends_with("out");
}

at::IValue run(const Operator& of, Values stack) {
  of.getOperation()(stack);
  if (stack.size() == 1) return std::move(stack.front());
  if (stack.empty()) return at::IValue();
  return c10::ivalue::Tuple::create(std::move(stack));
}

}  // namespace

at::IValue call_operator(const std::string& name, Values arguments) {
  const auto space = name.find("::");
  const auto dot = name.find('.', space + 2);
  const std::string base = name.substr(0, dot);
  const std::optional<std::string> overload =
      dot == std::string::npos ? std::nullopt : std::optional<std::string>(name.substr(dot + 1));
  std::string tried;
  std::optional<Error> only;
  int candidates = 0;
  for (const auto& one : torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(base))) {
    const c10::FunctionSchema& schema = one->schema();
    if (overload ? schema.overload_name() != (*overload == "default" ? "" : *overload) : writes_to_given(schema)) continue;
    ++candidates;
    std::optional<Values> fitting;
    try {
      fitting = jit::fit_arguments(base, schema, arguments, 0);
    } catch (const Error& error) {
      only = error;
      if (candidates <= kMostTold) tried += (candidates > 1 ? "; " : " ") + jit::described(base, schema, 0);
      continue;
    }
    try {
      return run(*one, std::move(*fitting));
    } catch (const Error&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::kOutOfMemory, "no memory");
    } catch (...) {
      throw Error(ErrorCode::kInvalidArgument, jit::reason_of_current());
    }
  }
  if (candidates == 0) {
    throw Error(ErrorCode::kNotFound, "LibTorch has no operator of that name; see docs/operators.md for names");
  }
  if (candidates == 1) throw *only;
  throw Error(ErrorCode::kInvalidArgument,
              "the arguments fit none of" + tried + (candidates > kMostTold ? "; and others" : ""));
}

}  // namespace tandem::rpc
