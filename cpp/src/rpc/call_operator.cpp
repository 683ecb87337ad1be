#include "rpc/call_operator.h"

#include <torch/library.h>

#include "jit/errors.h"
#include "rpc/failure_value.h"
#include "rpc/functions.h"

namespace tandem::rpc {
namespace {

constexpr const char* kName = "aten::_tandem_call";

at::IValue result_of(const std::string& function, Values arguments) {
  try {
    return Functions::instance().call(function, std::move(arguments));
  } catch (const Error& error) {
    return failure_value(error);
  } catch (const std::bad_alloc&) {
    return failure_value(Error(ErrorCode::kOutOfMemory, "no memory"));
  } catch (...) {
    return failure_value(Error(ErrorCode::kCallback, jit::reason_of_current()));
  }
}

void run_call(const c10::OperatorHandle&, torch::jit::Stack* stack) {
  at::IValue given = torch::jit::pop(*stack);
  const at::IValue function = torch::jit::pop(*stack);
  stack->push_back(result_of(function.toStringRef(), given.toListRef().vec()));
}

}  // namespace

const std::shared_ptr<torch::jit::Operator>& call_operator_of_messages() {
  static const auto found = [] {
    const auto& all = torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(kName));
    if (all.empty()) throw Error(ErrorCode::kInternal, std::string(kName) + " is not registered");
    return all.front();
  }();
  return found;
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("_tandem_call(str function, Any[] arguments) -> Any", torch::CppFunction::makeFromBoxedFunction<&run_call>());
}

}  // namespace tandem::rpc
