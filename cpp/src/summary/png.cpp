#include "summary/png.h"

#include <stdexcept>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

namespace tandem {

std::string encode_png(const std::uint8_t* pixels, std::int64_t height, std::int64_t width, int channels) {
  std::string png;
  const auto append = [](void* to, void* data, int size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data), static_cast<std::size_t>(size));
  };
  if (stbi_write_png_to_func(append, &png, static_cast<int>(width), static_cast<int>(height), channels, pixels,
                             static_cast<int>(width) * channels) == 0) {
    throw std::runtime_error("no memory for it");
  }
  return png;
}

}  // namespace tandem
