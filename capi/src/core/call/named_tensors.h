// Names with tensors that callers give: states, files' content.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/call/strings.h"
#include "core/handles/handles.h"

namespace tandem::capi {

// Throws Error (kInvalidArgument, kClosed) naming the list, and the element that is wrong.
inline std::vector<std::pair<std::string, at::Tensor>> to_named(const char* const* names, tdm_tensor* const* tensors,
                                                                std::size_t count, const char* argument = "tensors") {
  auto labels = to_strings(names, count, "names");
  auto values = unwrap_list(tensors, count, argument);
  std::vector<std::pair<std::string, at::Tensor>> named;
  for (std::size_t i = 0; i < count; ++i) named.emplace_back(std::move(labels[i]), std::move(values[i]));
  return named;
}

}  // namespace tandem::capi
