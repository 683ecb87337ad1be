// Compiled with -O3: taking colours apart is a large part of what decoding small pictures costs.
#include "data/decode/pixels.h"

#include <cstdio>
#include <cstring>

#include "tandem/error.h"

namespace tandem::image {
namespace {

constexpr std::uint8_t kPngMagic[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

bool is_jpeg(Bytes bytes) {
  return bytes.size() >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff;
}

bool is_png(Bytes bytes) {
  return bytes.size() >= sizeof kPngMagic && std::memcmp(bytes.data(), kPngMagic, sizeof kPngMagic) == 0;
}

[[noreturn]] void refuse_unknown(Bytes bytes) {
  std::string start;
  for (std::size_t i = 0; i < bytes.size() && i < 8; ++i) {
    char text[4];
    std::snprintf(text, sizeof text, " %02x", bytes[i]);
    start += text;
  }
  throw Error(ErrorCode::kDataLoss, bytes.empty() ? "the picture is empty: 0 bytes"
                                                  : "the picture is neither JPEG nor PNG: its " +
                                                        std::to_string(bytes.size()) + " bytes begin with" + start);
}

// To planes whose leftmost bytes are given. A pixel is one number, so that compilers find vectors of them.
template <bool kMirrored>
void split_rgbx(const std::uint8_t* pixels, std::int64_t width, std::uint8_t* __restrict red,
                std::uint8_t* __restrict green, std::uint8_t* __restrict blue) {
  for (std::int64_t x = 0; x < width; ++x) {
    std::uint32_t pixel;
    std::memcpy(&pixel, pixels + 4 * (kMirrored ? width - 1 - x : x), sizeof pixel);
    red[x] = static_cast<std::uint8_t>(pixel);
    green[x] = static_cast<std::uint8_t>(pixel >> 8);
    blue[x] = static_cast<std::uint8_t>(pixel >> 16);
  }
}

}  // namespace

std::unique_ptr<Picture> open(Bytes bytes, std::int64_t max_pixels) {
  const bool jpeg = is_jpeg(bytes);
  if (!jpeg && !is_png(bytes)) refuse_unknown(bytes);
  std::unique_ptr<Picture> picture = jpeg ? open_jpeg(bytes) : open_png(bytes);
  const Header header = picture->header();
  const std::string size = std::to_string(header.width) + " × " + std::to_string(header.height) + " pixels";
  // Both sides have at most 31 bits.
  const std::int64_t pixels = header.height * header.width;
  if (pixels > max_pixels) {
    throw Error(ErrorCode::kDataLoss, "the picture has " + size + ", more than the limit of " +
                                          std::to_string(max_pixels) + "; raise max_pixels if it is meant");
  }
  if (pixels / header.most_pixels_per_byte > static_cast<std::int64_t>(bytes.size())) {
    throw Error(ErrorCode::kDataLoss, "the picture claims " + size + ", which its " + std::to_string(bytes.size()) +
                                          " bytes cannot hold: it is truncated or damaged");
  }
  return picture;
}

void store_row(const std::uint8_t* pixels, int channels, std::int64_t width, std::int64_t y, const Target& target) {
  std::uint8_t* const row = target.data + y * target.row;
  if (target.pixel == channels && (target.channel == 1 || channels == 1)) {
    std::memcpy(row, pixels, static_cast<std::size_t>(width * channels));
  } else if (channels == 3 && target.pixel == 1) {
    std::uint8_t* const __restrict red = row;
    std::uint8_t* const __restrict green = row + target.channel;
    std::uint8_t* const __restrict blue = row + 2 * target.channel;
    for (std::int64_t x = 0; x < width; ++x) {
      red[x] = pixels[3 * x];
      green[x] = pixels[3 * x + 1];
      blue[x] = pixels[3 * x + 2];
    }
  } else {
    for (std::int64_t x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) row[c * target.channel + x * target.pixel] = pixels[x * channels + c];
    }
  }
}

void store_rgbx_row(const std::uint8_t* pixels, std::int64_t width, std::int64_t y, const Target& target) {
  std::uint8_t* const row = target.data + y * target.row;
  if (target.pixel == 1) {
    split_rgbx<false>(pixels, width, row, row + target.channel, row + 2 * target.channel);
  } else if (target.pixel == -1) {
    std::uint8_t* const left = row - (width - 1);
    split_rgbx<true>(pixels, width, left, left + target.channel, left + 2 * target.channel);
  } else {
    for (std::int64_t x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) row[c * target.channel + x * target.pixel] = pixels[4 * x + c];
    }
  }
}

}  // namespace tandem::image
