// Arguments of a method, as its schema has them.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <cstddef>
#include <string>
#include <vector>

namespace tandem::jit {

// "forward(x: Tensor, by: int = 1) -> Tensor": from the argument `first`, by default without the module itself, which is a
// method's first one. Operators have none.
std::string described(const std::string& method, const c10::FunctionSchema& schema, std::size_t first = 1);

// Values of the schema's types, with its defaults for those that are left out at the end; from the argument `first`. Throws
// tandem::Error (kInvalidArgument) naming the argument, with the schema.
std::vector<at::IValue> fit_arguments(const std::string& method, const c10::FunctionSchema& schema,
                                      std::vector<at::IValue> arguments, std::size_t first = 1);

}  // namespace tandem::jit
