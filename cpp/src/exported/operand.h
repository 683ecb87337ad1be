// What a node of a graph takes.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <string>
#include <vector>

#include "exported/frame.h"

namespace tandem::exported {

class Operand {
 public:
  // Of the schema's Argument union. `type`: what the operator's schema says of it; null where there is none. Throws
  // tandem::Error: kDataLoss, kUnsupported.
  static Operand parse(const Json& argument, const c10::TypePtr& type, const Names& names, const std::string& where);
  static Operand constant(at::IValue value);

  at::IValue value(const Frame& frame) const;
  // The slots that it reads.
  void add_slots(std::vector<std::size_t>& into) const;
  // Null where it is no constant.
  const at::IValue* if_constant() const { return kind_ == Kind::kConstant ? &value_ : nullptr; }

 private:
  enum class Kind { kConstant, kDevice, kSlot, kList };
  // Of a list's elements.
  enum class Of { kTensor, kOptionalTensor, kInt, kDouble, kBool, kString, kScalar, kTensorList, kIntList, kAny };
  class Parser;

  static Of elements_of(const c10::TypePtr& type, Of otherwise);
  at::IValue list(const Frame& frame) const;
  // A list of constants is one.
  static Operand list_of(Of of, std::vector<Operand> parts);

  Kind kind_ = Kind::kConstant;
  at::IValue value_;
  std::size_t slot_ = 0;
  bool becomes_tensor_ = false;  // the number in the slot
  Of of_ = Of::kAny;
  std::vector<Operand> parts_;
};

}  // namespace tandem::exported
