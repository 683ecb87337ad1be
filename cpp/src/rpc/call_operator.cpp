#include "rpc/call_operator.h"

#include <torch/library.h>

#include <chrono>

#include "jit/errors.h"
#include "rpc/failure_value.h"
#include "rpc/functions.h"
#include "trace/recorder.h"

namespace tandem::rpc {
namespace {

constexpr const char* kName = "aten::_tandem_call";

// In a trace, what this worker ran for others.
class ServedSpan {
 public:
  explicit ServedSpan(const std::string& function) : function_(function) {}
  ~ServedSpan() {
    auto& trace = TraceRecorder::instance();
    if (!trace.on()) return;
    try {
      trace.exchange("rpc served", function_, begun_, std::chrono::steady_clock::now(), "");
    } catch (const std::exception&) {
      // No memory for an entry.
    }
  }
  ServedSpan(const ServedSpan&) = delete;
  ServedSpan& operator=(const ServedSpan&) = delete;

 private:
  const std::string& function_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

at::IValue result_of(const std::string& function, Values arguments) {
  const ServedSpan span(function);
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

at::IValue run_given(torch::jit::Stack stack) {
  if (stack.size() != 2 || !stack[0].isString() || !stack[1].isList()) {
    return failure_value(Error(ErrorCode::kDataLoss,
                               "this is no call of Tandem's: start the same version on every worker, and let nobody else "
                               "reach their ports"));
  }
  return result_of(stack[0].toStringRef(), stack[1].toListRef().vec());
}

// Of who finds the operator by himself.
void run_call(const c10::OperatorHandle&, torch::jit::Stack* stack) {
  at::IValue arguments = torch::jit::pop(*stack);
  at::IValue function = torch::jit::pop(*stack);
  stack->push_back(run_given({std::move(function), std::move(arguments)}));
}

}  // namespace

at::IValue run_message(const torch::jit::Operator& op, torch::jit::Stack stack) {
  if (&op != call_operator_of_messages().get()) stack.clear();  // LibTorch runs others without a look at their arguments
  return run_given(std::move(stack));
}

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
