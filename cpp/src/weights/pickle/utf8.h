// Text as Python's strings are stored.
#pragma once

#include <string>
#include <string_view>

namespace tandem::pickle {

bool is_utf8(std::string_view text);
// The bytes that its characters are in Latin-1; false where one of them is no such. `text` is UTF-8. `bytes` may be
// null.
bool latin1_of(std::string_view text, std::string* bytes);

}  // namespace tandem::pickle
