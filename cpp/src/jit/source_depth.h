// How deep TorchScript's text nests: LibTorch's compiler calls itself for what lies in something else, and would run
// out of stack.
#pragma once

#include <string>
#include <string_view>

namespace tandem::jit {

// Throws tandem::Error (kUnsupported) naming `name` and the line. What it lets through needs less than the stack of
// deep_stack.h.
void require_shallow(std::string_view source, const std::string& name);

// Classes and functions in `source`, each of which may need the next one while it is compiled.
std::size_t count_definitions(std::string_view source);
inline constexpr std::size_t kMostDefinitions = 16384;

}  // namespace tandem::jit
