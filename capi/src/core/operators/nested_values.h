// The tensors in values that hold others.
#pragma once

#include <functional>
#include <string>

#include "core/handles/handles.h"

namespace tandem::capi {

// Values nest no deeper: one that contains itself would have no end.
constexpr int kMaxNesting = 64;
[[noreturn]] void nests_too_deep(const std::string& name);

// Calls `visit` with each tensor in `value`, at any depth, in order. `name` is the argument's in errors.
void for_each_tensor(const tdm_value& value, const std::string& name,
                     const std::function<void(const at::Tensor&)>& visit);

// An owned copy, with what `replace` gives for each tensor, in the same order.
tdm_value copy_value(const tdm_value& value, const std::string& name,
                     const std::function<at::Tensor(const at::Tensor&)>& replace);

}  // namespace tandem::capi
