#include "comm/environment_variable.h"

#include <charconv>
#include <cstdlib>

#include "base/invalid.h"

namespace tandem {

std::optional<std::string> environment_variable(const char* name) {
  const char* text = std::getenv(name);
  if (!text || !*text) return std::nullopt;
  return text;
}

std::optional<std::int64_t> environment_number(const char* name, std::int64_t low, std::int64_t high,
                                               const std::string& remedy) {
  const auto text = environment_variable(name);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (failure != std::errc() || end != text->data() + text->size() || value < low || value > high) {
    invalid(std::string(name) + " is '" + *text + "'; it must be a whole number from " + std::to_string(low) + " to " +
            std::to_string(high) + remedy);
  }
  return value;
}

}  // namespace tandem
