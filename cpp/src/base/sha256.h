// SHA-256 (FIPS 180-4), for names that nobody can make two contents for.
#pragma once

#include <string>
#include <string_view>

namespace tandem {

// As 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace tandem
