// The export schema's own numbers for dtypes, layouts and memory formats, and LibTorch's.
#pragma once

#include <ATen/ATen.h>

#include <string>

#include "exported/json_fields.h"

namespace tandem::exported {

// Each throws Error (kUnsupported) for a number that it does not know. Source: torch/_export/serde/schema.py.
at::ScalarType scalar_type(const Json& number, const std::string& where);
at::Layout layout(const Json& number, const std::string& where);
at::MemoryFormat memory_format(const Json& number, const std::string& where);
// Of {"type": "cuda", "index": 0}.
at::Device device(const Json& value, const std::string& where);

}  // namespace tandem::exported
