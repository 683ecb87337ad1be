// An operator that was looked up, with what its schema says compiled for calls.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/handles/handle_tag.h"
#include "tandem/tandem.h"

namespace tandem::capi {

class Unboxed;

// What an argument's schema type takes.
enum class Takes : std::uint8_t {
  kTensor,
  kScalar,
  kInt,
  kDouble,
  kBool,
  kComplex,
  kString,
  kDtype,
  kLayout,
  kMemoryFormat,
  kDevice,
  kGenerator,
  kTensorList,
  kOptionalTensorList,
  kIntList,
  kDoubleList,
  kBoolList,
  kStringList,
  kScalarList,
  kDtypeList,
  kName,     // of a dimension
  kNothing,  // a type that no tag can say
};

struct Converter {
  Takes takes = Takes::kNothing;
  bool optional = false;
  bool has_default = false;
  std::int32_t broadcast = 0;  // int[k]: a single number stands for k of them
  std::int32_t position = 0;   // counted from 1
  at::IValue default_value;
  std::string name;
  std::string type;
};

}  // namespace tandem::capi

struct tdm_op {
  static constexpr int kHandleType = tandem::capi::kOperatorHandle;

  explicit tdm_op(const c10::OperatorHandle& found);
  ~tdm_op();
  bool is_live() const { return tag.get() == kTag; }

  static constexpr std::uint32_t kTag = tandem::capi::handle_tag(kHandleType, tandem::capi::HandleState::kLive);
  tandem::capi::HandleTag tag{kTag};
  c10::OperatorHandle handle;
  std::string name;    // "aten::add.Tensor"
  std::string schema;  // with types, as LibTorch prints it
  std::vector<tandem::capi::Converter> arguments;
  std::vector<c10::TypePtr> results;
  bool only_views = false;                         // its results share their argument's memory: nothing is computed
  bool pins_memory = false;                        // for a device, which no argument need name
  std::unique_ptr<tandem::capi::Unboxed> unboxed;  // NULL: calls are boxed
  mutable std::atomic<bool> called{false};
};
