// Variables of this process's environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tandem {

// Nothing for one that is not set, or empty.
std::optional<std::string> environment_variable(const char* name);

// Nothing for one that is not set, or empty. Throws Error (kInvalidArgument) naming it for what is no whole number from
// `low` to `high`; `remedy`, which may be "", ends the message.
std::optional<std::int64_t> environment_number(const char* name, std::int64_t low, std::int64_t high,
                                               const std::string& remedy = "");

}  // namespace tandem
