#include "core/operators/unboxed.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include <utility>

#include "core/handles/handles.h"
#include "core/operators/intra_op.h"
#include "core/operators/on_cpu.h"

namespace tandem::capi {
namespace {

// How a parameter of C++ type T is read from a value, which is NULL where the caller left the argument out.
template <typename T>
struct Read;

bool is_left_out(const tdm_value* value) {
  return !value || value->tag == TDM_VALUE_DEFAULT;
}

struct ReadTensor {
  static constexpr c10::TypeKind kKind = c10::TypeKind::TensorType;
  static bool fits(const Converter&, const tdm_value* value) { return value && value->tag == TDM_VALUE_TENSOR; }
  static const at::Tensor& tensor(const Converter& converter, const tdm_value* value) {
    return unwrap(value->as.tensor, converter.name.c_str());
  }
  static std::int64_t elements(const Converter& converter, const tdm_value* value) {
    return tensor(converter, value).numel();
  }
  static bool on_cpu(const Converter& converter, const tdm_value* value) { return is_on_cpu(tensor(converter, value)); }
};

template <>
struct Read<const at::Tensor&> : ReadTensor {
  static constexpr bool kWritten = false;
  static const at::Tensor& value(const Converter& converter, const tdm_value* value) {
    return tensor(converter, value);
  }
};

template <>
struct Read<at::Tensor&> : ReadTensor {
  static constexpr bool kWritten = true;
  static at::Tensor& value(const Converter& converter, const tdm_value* value) {
    return const_cast<at::Tensor&>(tensor(converter, value));
  }
};

struct ReadNumber {
  static constexpr bool kWritten = false;
  static std::int64_t elements(const Converter&, const tdm_value*) { return 0; }
  static bool on_cpu(const Converter&, const tdm_value*) { return true; }
};

template <>
struct Read<const at::Scalar&> : ReadNumber {
  static constexpr c10::TypeKind kKind = c10::TypeKind::NumberType;
  static bool fits(const Converter& converter, const tdm_value* value) {
    if (is_left_out(value)) return converter.has_default;
    return value->tag == TDM_VALUE_INT || value->tag == TDM_VALUE_DOUBLE;
  }
  static at::Scalar value(const Converter& converter, const tdm_value* value) {
    if (is_left_out(value)) return converter.default_value.toScalar();
    return value->tag == TDM_VALUE_INT ? at::Scalar(value->as.integer) : at::Scalar(value->as.real);
  }
};

template <>
struct Read<std::int64_t> : ReadNumber {
  static constexpr c10::TypeKind kKind = c10::TypeKind::IntType;
  static bool fits(const Converter& converter, const tdm_value* value) {
    return is_left_out(value) ? converter.has_default : value->tag == TDM_VALUE_INT;
  }
  static std::int64_t value(const Converter& converter, const tdm_value* value) {
    return is_left_out(value) ? converter.default_value.toInt() : value->as.integer;
  }
};

template <typename Signature>
class UnboxedAs;

template <typename Return, typename... Parameters>
class UnboxedAs<Return(Parameters...)> final : public Unboxed {
 public:
  using Handle = c10::TypedOperatorHandle<Return(Parameters...)>;

  explicit UnboxedAs(Handle handle) : handle_(std::move(handle)) {}

  bool call(const tdm_op& op, ThreadState& state, const tdm_value* arguments, std::size_t argument_count,
            at::Tensor& result) const override {
    return call(op, state, arguments, argument_count, result, std::index_sequence_for<Parameters...>());
  }

  static bool matches(const c10::FunctionSchema& schema) {
    constexpr bool kReturnsWritten = std::is_same_v<Return, at::Tensor&>;
    if (schema.arguments().size() != sizeof...(Parameters) || schema.returns().size() != 1) return false;
    const c10::Argument& result = schema.returns()[0];
    if (result.real_type()->kind() != c10::TypeKind::TensorType) return false;
    if ((result.alias_info() && result.alias_info()->isWrite()) != kReturnsWritten) return false;
    const c10::Argument* argument = schema.arguments().data();
    return (takes<Parameters>(*argument++) && ...);
  }

 private:
  template <typename T>
  static bool takes(const c10::Argument& argument) {
    const bool written = argument.alias_info() && argument.alias_info()->isWrite();
    return argument.real_type()->kind() == Read<T>::kKind && written == Read<T>::kWritten;
  }

  template <std::size_t... I>
  bool call(const tdm_op& op, ThreadState& state, const tdm_value* arguments, std::size_t argument_count,
            at::Tensor& result, std::index_sequence<I...>) const {
    const auto given = [&](std::size_t i) { return i < argument_count ? &arguments[i] : nullptr; };
    if (!(Read<Parameters>::fits(op.arguments[I], given(I)) && ...)) return false;
    const auto run = [&] { result = handle_.call(Read<Parameters>::value(op.arguments[I], given(I))...); };
    if (computes_widely(state) || op.only_views ||
        (Read<Parameters>::elements(op.arguments[I], given(I)) + ...) < at::internal::GRAIN_SIZE ||
        !(Read<Parameters>::on_cpu(op.arguments[I], given(I)) && ...)) [[likely]] {
      run();
    } else {
      run_widely(state, run);
    }
    return true;
  }

  Handle handle_;
};

template <typename Signature>
bool make_as(const c10::OperatorHandle& op, std::unique_ptr<Unboxed>& made) {
  if (!UnboxedAs<Signature>::matches(op.schema())) return false;
  try {
    made = std::make_unique<UnboxedAs<Signature>>(op.typed<Signature>());
  } catch (const c10::Error&) {
    // Its C++ function takes these types in another way, by value for example.
  }
  return true;
}

template <typename... Signatures>
std::unique_ptr<Unboxed> first_of(const c10::OperatorHandle& op) {
  std::unique_ptr<Unboxed> made;
  (make_as<Signatures>(op, made) || ...);
  return made;
}

using T = const at::Tensor&;
using S = const at::Scalar&;

// No kernel takes it.
struct Nothing;

// Whether LibTorch knows the C++ signature of the operator's kernels. From then on it holds unboxed calls and kernels
// that are registered later to it; before, it lets any call through to whatever kernel comes.
bool has_signature(const c10::OperatorHandle& op) {
  try {
    op.typed<void(const Nothing&)>();
    return false;
  } catch (const c10::Error&) {
    return true;
  }
}

}  // namespace

std::unique_ptr<Unboxed> make_unboxed(const c10::OperatorHandle& op) {
  if (!has_signature(op)) return nullptr;
  return first_of<at::Tensor(T), at::Tensor(T, T), at::Tensor(T, T, T), at::Tensor(T, T, S), at::Tensor(T, S),
                  at::Tensor(T, S, S), at::Tensor(T, T, T, S), at::Tensor(T, T, T, S, S),
                  at::Tensor(T, T, std::int64_t), at::Tensor(T, std::int64_t),
                  at::Tensor(T, std::int64_t, std::int64_t), at::Tensor&(at::Tensor&), at::Tensor&(at::Tensor&, T),
                  at::Tensor&(at::Tensor&, S), at::Tensor&(at::Tensor&, T, S), at::Tensor&(at::Tensor&, S, S),
                  at::Tensor&(at::Tensor&, T, T, S)>(op);
}

}  // namespace tandem::capi
