// The names that AtomicFile writes under, which stay where a process was killed.
#pragma once

#include <optional>
#include <string_view>

namespace tandem {

// The file that `name` was to become, "FILE" of "FILE.tmpPID-N"; nothing where it is no such name.
inline std::optional<std::string_view> target_of_temporary(std::string_view name) {
  const auto at = name.rfind(".tmp");
  if (at == std::string_view::npos) return {};
  const std::string_view numbers = name.substr(at + 4);
  const auto dash = numbers.find('-');
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (dash == std::string_view::npos || !is_number(numbers.substr(0, dash)) || !is_number(numbers.substr(dash + 1))) {
    return {};
  }
  return name.substr(0, at);
}

}  // namespace tandem
