// Operators by name, called boxed through LibTorch's dispatcher.
//
// tdm_op_find compiles the schema into one converter per argument; a call checks each value against it and pushes it
// onto a stack that the thread reuses. LibTorch itself does not check what boxed calls are given.
#include <ATen/core/stack.h>
#include <torch/version.h>

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "core/call/strings.h"
#include "core/operators/intra_op.h"
#include "core/operators/on_cpu.h"
#include "core/operators/operator.h"
#include "core/operators/unboxed.h"
#include "core/operators/values.h"
#include "tandem/runtime.h"

namespace tandem::capi {
namespace {

Takes takes_of(const c10::Type& type);

Takes list_of(const c10::Type& element) {
  switch (takes_of(element)) {
    case Takes::kTensor:
      return element.kind() == c10::TypeKind::OptionalType ? Takes::kOptionalTensorList : Takes::kTensorList;
    case Takes::kInt:
      return Takes::kIntList;
    case Takes::kDouble:
      return Takes::kDoubleList;
    case Takes::kBool:
      return Takes::kBoolList;
    case Takes::kString:
      return Takes::kStringList;
    case Takes::kScalar:
      return Takes::kScalarList;
    case Takes::kDtype:
      return Takes::kDtypeList;
    default:
      return Takes::kNothing;
  }
}

Takes takes_of(const c10::Type& type) {
  switch (type.kind()) {
    case c10::TypeKind::OptionalType:
      return takes_of(*type.containedType(0));
    case c10::TypeKind::TensorType:
      return Takes::kTensor;
    case c10::TypeKind::NumberType:
      return Takes::kScalar;
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
      return Takes::kInt;
    case c10::TypeKind::FloatType:
    case c10::TypeKind::SymFloatType:
      return Takes::kDouble;
    case c10::TypeKind::BoolType:
    case c10::TypeKind::SymBoolType:
      return Takes::kBool;
    case c10::TypeKind::ComplexType:
      return Takes::kComplex;
    case c10::TypeKind::StringType:
      return Takes::kString;
    case c10::TypeKind::ScalarTypeType:
      return Takes::kDtype;
    case c10::TypeKind::LayoutType:
      return Takes::kLayout;
    case c10::TypeKind::MemoryFormatType:
      return Takes::kMemoryFormat;
    case c10::TypeKind::DeviceObjType:
      return Takes::kDevice;
    case c10::TypeKind::GeneratorType:
      return Takes::kGenerator;
    case c10::TypeKind::ListType:
      return list_of(*type.containedType(0));
    default:
      return Takes::kNothing;
  }
}

// A schema calls names of dimensions `str`, as it does text; only their arguments' names tell.
bool takes_dimension_names(const c10::OperatorName& op, const c10::Argument& argument) {
  const bool overload = contains(op.overload_name, "ame") || contains(op.name, "name") || contains(op.name, "align");
  return overload &&
         (contains(argument.name(), "dim") || contains(argument.name(), "names") || contains(argument.name(), "order"));
}

Converter compile(const c10::OperatorName& op, const c10::Argument& argument, std::size_t index) {
  Converter converter;
  converter.position = static_cast<std::int32_t>(index) + 1;
  converter.name = argument.name();
  converter.type = argument.real_type()->str();
  converter.optional = argument.real_type()->kind() == c10::TypeKind::OptionalType;
  converter.takes = takes_of(*argument.real_type());
  if ((converter.takes == Takes::kString || converter.takes == Takes::kStringList) &&
      takes_dimension_names(op, argument)) {
    converter.takes = Takes::kName;
  }
  if (argument.default_value()) {
    converter.has_default = true;
    converter.default_value = *argument.default_value();
  }
  converter.broadcast = argument.N().value_or(0);
  return converter;
}

std::string described(const Converter& converter) {
  return "argument '" + converter.name + "' (" + converter.type + ")";
}

// Whether no value can be what the operator takes.
bool is_unsayable(const Converter& converter) {
  return converter.takes == Takes::kName || converter.takes == Takes::kNothing;
}

[[noreturn]] void refuse_type(const Converter& converter) {
  throw Error(ErrorCode::kUnsupported,
              described(converter) + (converter.takes == Takes::kName
                                          ? " takes names of dimensions, which Tandem does not support; use the "
                                            "overload that takes numbers"
                                          : " has a type that no tag of tdm_value can say"));
}

[[noreturn]] void refuse(const Converter& converter, const tdm_value& value) {
  if (is_unsayable(converter)) refuse_type(converter);
  invalid(described(converter) + " cannot be " + describe(value) + " (argument " + std::to_string(converter.position) +
          ")");
}

[[gnu::noinline]] at::IValue optional_tensor_list(const Converter& converter, const tdm_value& value) {
  const auto& list = value.as.list;
  c10::List<std::optional<at::Tensor>> tensors;
  tensors.reserve(list.size);
  for (auto& tensor :
       unwrap_optional_list(static_cast<tdm_tensor* const*>(list.data), list.size, converter.name.c_str())) {
    tensors.push_back(tensor.defined() ? std::optional<at::Tensor>(std::move(tensor)) : std::nullopt);
  }
  return tensors;
}

[[gnu::noinline]] at::IValue doubles_of_ints(const tdm_value& value) {
  const auto* numbers = static_cast<const std::int64_t*>(value.as.list.data);
  c10::List<double> list;
  for (std::size_t i = 0; i < value.as.list.size; ++i) list.push_back(static_cast<double>(numbers[i]));
  return list;
}

[[gnu::noinline]] at::IValue dtypes_of(const Converter& converter, const tdm_value& value) {
  const auto* numbers = static_cast<const std::int64_t*>(value.as.list.data);
  c10::List<std::int64_t> list;
  for (std::size_t i = 0; i < value.as.list.size; ++i) {
    if (numbers[i] < 0 || numbers[i] > INT32_MAX) refuse(converter, value);
    list.push_back(
        static_cast<std::int64_t>(to_scalar_type(static_cast<tdm_dtype>(numbers[i]), converter.name.c_str())));
  }
  return list;
}

// The tags that to_ivalue() converts as they are.
bool fits(Takes takes, tdm_value_tag tag) {
  switch (takes) {
    case Takes::kScalar:
      return tag >= TDM_VALUE_BOOL && tag <= TDM_VALUE_COMPLEX;
    case Takes::kInt:
      return tag == TDM_VALUE_INT;
    case Takes::kBool:
      return tag == TDM_VALUE_BOOL;
    case Takes::kDouble:
      return tag == TDM_VALUE_DOUBLE;
    case Takes::kComplex:
      return tag == TDM_VALUE_COMPLEX;
    case Takes::kString:
      return tag == TDM_VALUE_STRING;
    case Takes::kDtype:
      return tag == TDM_VALUE_DTYPE;
    case Takes::kLayout:
      return tag == TDM_VALUE_LAYOUT;
    case Takes::kMemoryFormat:
      return tag == TDM_VALUE_MEMORY_FORMAT;
    case Takes::kDevice:
      return tag == TDM_VALUE_DEVICE;
    case Takes::kGenerator:
      return tag == TDM_VALUE_GENERATOR;
    case Takes::kTensorList:
      return tag == TDM_VALUE_TENSOR_LIST;
    case Takes::kDoubleList:
      return tag == TDM_VALUE_DOUBLE_LIST;
    case Takes::kBoolList:
      return tag == TDM_VALUE_BOOL_LIST;
    case Takes::kStringList:
      return tag == TDM_VALUE_STRING_LIST;
    case Takes::kScalarList:
      return tag == TDM_VALUE_SCALAR_LIST;
    default:
      return false;
  }
}

// LibTorch keeps sizes in 63 bits, and of others it would say only that they are no concrete integers.
std::int64_t size_of(const Converter& converter, std::int64_t number) {
  if (!c10::SymInt::check_range(number)) invalid(described(converter) + " cannot hold " + std::to_string(number));
  return number;
}

[[gnu::noinline]] at::IValue sizes_of(const Converter& converter, const tdm_value& value) {
  at::IValue list = to_ivalue(value, converter.name);
  const auto* numbers = static_cast<const std::int64_t*>(value.as.list.data);
  for (std::size_t i = 0; i < value.as.list.size; ++i) size_of(converter, numbers[i]);
  return list;
}

[[gnu::noinline]] at::IValue convert_rare(const Converter& converter, const tdm_value& value) {
  const auto tag = value.tag;
  if (fits(converter.takes, tag)) return to_ivalue(value, converter.name);
  if (tag == TDM_VALUE_NONE && converter.optional) return {};
  if (tag == TDM_VALUE_DEFAULT) {
    if (converter.has_default) return converter.default_value;
    if (is_unsayable(converter)) refuse_type(converter);
    invalid(described(converter) + " has no default and must be given");
  }
  switch (converter.takes) {
    case Takes::kComplex:
      if (tag == TDM_VALUE_DOUBLE) return c10::complex<double>(value.as.real, 0);
      if (tag == TDM_VALUE_INT) return c10::complex<double>(static_cast<double>(value.as.integer), 0);
      break;
    case Takes::kDouble:
      if (tag == TDM_VALUE_INT) return static_cast<double>(value.as.integer);
      break;
    case Takes::kIntList:
      if (tag == TDM_VALUE_INT_LIST) return sizes_of(converter, value);
      if (tag == TDM_VALUE_INT && converter.broadcast > 0) {
        return std::vector<std::int64_t>(static_cast<std::size_t>(converter.broadcast),
                                         size_of(converter, value.as.integer));
      }
      break;
    case Takes::kDoubleList:
      if (tag == TDM_VALUE_INT_LIST) {
        check_list(value, converter.name.c_str());
        return doubles_of_ints(value);
      }
      if (tag == TDM_VALUE_DOUBLE && converter.broadcast > 0) {
        return std::vector<double>(static_cast<std::size_t>(converter.broadcast), value.as.real);
      }
      break;
    case Takes::kDtypeList:
      if (tag == TDM_VALUE_INT_LIST) {
        check_list(value, converter.name.c_str());
        return dtypes_of(converter, value);
      }
      break;
    case Takes::kOptionalTensorList:
      if (tag == TDM_VALUE_TENSOR_LIST) {
        check_list(value, converter.name.c_str());
        return optional_tensor_list(converter, value);
      }
      break;
    default:
      break;
  }
  refuse(converter, value);
}

inline void push(torch::jit::Stack& stack, const Converter& converter, const tdm_value& value) {
  if (value.tag == TDM_VALUE_TENSOR && converter.takes == Takes::kTensor) {
    stack.emplace_back(unwrap(value.as.tensor, converter.name.c_str()));
  } else {
    stack.push_back(convert_rare(converter, value));
  }
}

// The thread's reusable stack; a call from within a call (a hook of autograd) has one of its own, for kernels keep
// pointers into theirs.
class CallStack {
 public:
  CallStack() : state_(thread_state()) {
    auto* kept = static_cast<torch::jit::Stack*>(state_.stack);
    state_.stack = nullptr;
    stack_ = kept ? kept : new torch::jit::Stack;
  }
  ~CallStack() {
    stack_->clear();
    if (state_.stack) {
      delete stack_;
    } else {
      state_.stack = stack_;
    }
  }
  CallStack(const CallStack&) = delete;
  CallStack& operator=(const CallStack&) = delete;

  torch::jit::Stack& operator*() { return *stack_; }

 private:
  ThreadState& state_;
  torch::jit::Stack* stack_;
};

[[gnu::noinline]] void check_counts(const tdm_op& op, const tdm_value* arguments, std::size_t argument_count,
                                    const tdm_value* results, std::size_t result_count) {
  if (argument_count > op.arguments.size()) {
    invalid("takes at most " + std::to_string(op.arguments.size()) + " arguments, " + std::to_string(argument_count) +
            " were given: " + op.schema);
  }
  if (result_count != op.results.size()) {
    invalid("has " + std::to_string(op.results.size()) + " results, but room for " + std::to_string(result_count) +
            " was given: " + op.schema);
  }
  if (argument_count != 0) not_null(arguments, "arguments");
  if (result_count != 0) not_null(results, "results");
}

// Whether LibTorch would share the work among threads: that begins at 32,768 elements for most operators.
bool is_large(const torch::jit::Stack& stack) {
  std::int64_t elements = 0;
  for (const at::IValue& value : stack) {
    if (value.isTensor()) {
      elements += value.toTensor().defined() ? value.toTensor().numel() : 0;
    } else if (value.isTensorList()) {
      for (const at::IValue& tensor : value.toListRef()) elements += tensor.toTensor().numel();
    }
    if (elements >= at::internal::GRAIN_SIZE) return true;
  }
  return false;
}

// Pinned memory is a device's as well.
bool call_is_on_cpu(const tdm_op& op, const torch::jit::Stack& stack) {
  for (std::size_t i = 0; i < stack.size(); ++i) {
    if (!is_on_cpu(stack[i])) return false;
    if (op.arguments[i].name == "pin_memory" && stack[i].isBool() && stack[i].toBool()) return false;
  }
  return !op.pins_memory;
}

// Whether the call needed no stack, and is done.
bool call_unboxed(const tdm_op& op, const tdm_value* arguments, std::size_t argument_count, tdm_value* result) {
  if (!op.unboxed) return false;
  at::Tensor tensor;
  if (!op.unboxed->call(op, thread_state(), arguments, argument_count, tensor)) return false;
  *result = from_tensor(std::move(tensor));
  return true;
}

void call_boxed(const tdm_op& op, const tdm_value* arguments, std::size_t argument_count, tdm_value* results,
                std::size_t result_count) {
  CallStack owner;
  torch::jit::Stack& stack = *owner;
  stack.reserve(op.arguments.size());
  for (std::size_t i = 0; i < argument_count; ++i) push(stack, op.arguments[i], arguments[i]);
  for (std::size_t i = argument_count; i < op.arguments.size(); ++i) {
    const Converter& converter = op.arguments[i];
    if (!converter.has_default) {
      if (is_unsayable(converter)) refuse_type(converter);
      invalid(described(converter) + " is missing: " + op.schema);
    }
    stack.push_back(converter.default_value);
  }
  ThreadState& state = thread_state();
  if (computes_widely(state) || op.only_views || !is_large(stack) || !call_is_on_cpu(op, stack)) [[likely]] {
    op.handle.callBoxed(&stack);
  } else {
    run_widely(state, [&] { op.handle.callBoxed(&stack); });
  }
  if (stack.size() != op.results.size()) {
    throw Error(ErrorCode::kInternal, "gave " + std::to_string(stack.size()) + " results, against its schema");
  }
  Results owned(result_count);
  for (std::size_t i = 0; i < result_count; ++i) owned.add(stack[i], op.results[i].get());
  owned.hand_over(results);
}

void call(const tdm_op& op, const tdm_value* arguments, std::size_t argument_count, tdm_value* results,
          std::size_t result_count) {
  if (argument_count > op.arguments.size() || result_count != op.results.size() || !arguments || !results) {
    check_counts(op, arguments, argument_count, results, result_count);
  }
  if (!call_unboxed(op, arguments, argument_count, results)) {
    call_boxed(op, arguments, argument_count, results, result_count);
  }
  if (!op.called.load(std::memory_order_relaxed)) [[unlikely]] {
    op.called.store(true, std::memory_order_relaxed);
    rearm_exit();
  }
}

struct Operators {
  std::shared_mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<tdm_op>> found;
};

Operators& operators() {
  static auto* instance = new Operators;
  return *instance;
}

[[noreturn]] void not_found(const c10::OperatorName& wanted) {
  std::string overloads;
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.name != wanted.name) continue;
    overloads += (overloads.empty() ? "" : ", ") + ("\"" + name.overload_name + "\"");
  }
  std::string message = "LibTorch " TORCH_VERSION " has no operator " + c10::toString(wanted);
  if (wanted.name.find("::") == std::string::npos) {
    message += "; a name begins with its namespace, as in aten::add";
  } else if (!overloads.empty()) {
    message += "; overloads of " + wanted.name + " are " + overloads;
  }
  throw Error(ErrorCode::kNotFound, message);
}

std::unique_ptr<tdm_op> compile(const c10::OperatorName& name) {
  const auto handle = c10::Dispatcher::singleton().findSchema(name);
  if (!handle) not_found(name);
  const c10::FunctionSchema& schema = handle->schema();
  auto op = std::make_unique<tdm_op>(*handle);
  op->name = c10::toString(name);
  op->schema = c10::toString(schema);
  op->pins_memory = name.name == "aten::pin_memory" || name.name == "aten::_pin_memory";
  if (schema.is_vararg() || schema.is_varret()) {
    throw Error(ErrorCode::kUnsupported, op->name + " has no fixed number of arguments, which Tandem does not support");
  }
  for (const auto& argument : schema.arguments())
    op->arguments.push_back(compile(name, argument, op->arguments.size()));
  for (const auto& result : schema.returns()) {
    op->results.push_back(result.real_type());
    op->only_views |= result.alias_info() && !result.alias_info()->isWrite();
  }
  op->unboxed = make_unboxed(*handle);
  return op;
}

const tdm_op* find(const char* name, const char* overload) {
  const std::string key = std::string(name) + "." + overload;
  {
    std::shared_lock<std::shared_mutex> lock(operators().mutex);
    const auto found = operators().found.find(key);
    if (found != operators().found.end()) return found->second.get();
  }
  auto made = compile(c10::OperatorName(name, overload));
  std::unique_lock<std::shared_mutex> lock(operators().mutex);
  return operators().found.try_emplace(key, std::move(made)).first->second.get();
}

}  // namespace
}  // namespace tandem::capi

using namespace tandem::capi;

tdm_op::tdm_op(const c10::OperatorHandle& found) : handle(found) {}
tdm_op::~tdm_op() = default;

tdm_error* tdm_op_find(const char* name, const char* overload, const tdm_op** out) {
  return guard("tdm_op_find", [&] {
    not_null(out, "out");
    *out = find(not_null(name, "name"), overload ? overload : "");
  });
}

const char* tdm_op_schema(const tdm_op* op) {
  return if_live(op) ? op->schema.c_str() : "";
}
std::size_t tdm_op_argument_count(const tdm_op* op) {
  return if_live(op) ? op->arguments.size() : 0;
}
std::size_t tdm_op_result_count(const tdm_op* op) {
  return if_live(op) ? op->results.size() : 0;
}

tdm_error* tdm_op_call(const tdm_op* op, const tdm_value* arguments, std::size_t argument_count, tdm_value* results,
                       std::size_t result_count) {
  return guard(
      "tdm_op_call",
      [&] {
        not_null(op, "op");
        call(*op, arguments, argument_count, results, result_count);
      },
      [&] { return if_live(op) ? op->name.c_str() : nullptr; });
}
