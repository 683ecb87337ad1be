#include "summary/png.h"

#include <png.h>

#include <stdexcept>

namespace tandem {

std::string encode_png(const std::uint8_t* pixels, std::int64_t height, std::int64_t width, int channels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.height = static_cast<png_uint_32>(height);
  image.width = static_cast<png_uint_32>(width);
  image.format = channels == 1 ? PNG_FORMAT_GRAY : channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string png(size, '\0');
  if (png_image_write_to_memory(&image, png.data(), &size, 0, pixels, 0, nullptr) == 0) {
    throw std::runtime_error(image.message);
  }
  png.resize(size);
  return png;
}

}  // namespace tandem
