// How deep TorchScript's text nests: LibTorch's compiler calls itself for what lies in something else, and would run
// out of stack.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tandem::jit {

// Gives the number of classes and functions, each of which may need the next one while it is compiled. Throws
// tandem::Error (kUnsupported) naming `name` and the line. What it lets through needs less than the stack of
// deep_stack.h, where there are no more than kMostDefinitions.
std::size_t require_shallow(std::string_view source, const std::string& name);

inline constexpr std::size_t kMostDefinitions = 16384;

}  // namespace tandem::jit
