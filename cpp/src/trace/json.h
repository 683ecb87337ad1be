// Pieces of JSON text.
#pragma once

#include <string>

namespace tandem {

// A JSON string: quotes around it, and what JSON does not take as it is escaped.
std::string json_quoted(const std::string& text);

}  // namespace tandem
