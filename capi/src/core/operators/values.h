// tdm_value to and from LibTorch's IValue.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <string>
#include <vector>

#include "core/handles/handles.h"

namespace tandem::capi {

// "a tensor", "an integer", … for messages; a number for an unknown tag.
std::string describe(const tdm_value& value);

// The value as it says itself, without a schema: what options and module arguments are. DTYPE, LAYOUT and
// MEMORY_FORMAT become integers. `name` is the argument's in errors, `depth` how many values it lies in. DEFAULT is
// refused, and what nests without end.
at::IValue to_ivalue(const tdm_value& value, const std::string& name, int depth = 0);

// Refuses a list with no data, or of a length that cannot be.
void check_list(const tdm_value& value, const char* name);

// The elements of a list, which is checked.
template <typename T>
c10::ArrayRef<T> elements_of(const tdm_value& value, const std::string& name) {
  check_list(value, name.c_str());
  return {static_cast<const T*>(value.as.list.data), value.as.list.size};
}

// Of an element in errors.
inline std::string element_name(const std::string& name, std::size_t index) {
  return name + "[" + std::to_string(index) + "]";
}

// A string's text, which is checked as lists are.
std::string text_of(const tdm_value& value, const std::string& name);

// An owned handle; NONE for an undefined tensor.
tdm_value from_tensor(at::Tensor tensor);

// An owned value. `type`, when given, tells enumerations from integers. An undefined tensor becomes NONE.
// Throws Error (kUnsupported) for what no tag can say.
tdm_value from_ivalue(const at::IValue& value, const c10::Type* type = nullptr);

// Owned values that are cleared unless handed over.
class Results {
 public:
  explicit Results(std::size_t room) { values_.reserve(room); }
  ~Results();
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  void add(const at::IValue& value, const c10::Type* type = nullptr) { add_owned(from_ivalue(value, type)); }
  void add_owned(const tdm_value& value) { values_.push_back(value); }
  void hand_over(tdm_value* to);

 private:
  c10::SmallVector<tdm_value, 4> values_;
};

// "Float", "int[]": how LibTorch's schemas name a type.
std::string type_name(const c10::Type& type);

}  // namespace tandem::capi
