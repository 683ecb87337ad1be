// Pictures as PNG.
#pragma once

#include <cstdint>
#include <string>

namespace tandem {

// Rows from the top, a byte a channel: grey (1), RGB (3) or RGBA (4); less than 2 GiB. Throws std::runtime_error.
std::string encode_png(const std::uint8_t* pixels, std::int64_t height, std::int64_t width, int channels);

}  // namespace tandem
