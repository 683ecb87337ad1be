// Compressed pictures to pixels, without LibTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tandem::image {

using Bytes = std::span<const std::uint8_t>;

enum class Format { kJpeg, kPng };

// What a picture's header says.
struct Header {
  Format format;
  std::int64_t height;
  std::int64_t width;
  int channels;                       // as decoded unchanged: palettes are colours, CMYK becomes RGB
  std::int64_t most_pixels_per_byte;  // that the format can store: a header that claims more lies
};

struct Window {
  std::int64_t top;
  std::int64_t left;
  std::int64_t height;
  std::int64_t width;
};

// Where channel c of the pixel in row y and column x goes: data + c · channel + y · row + x · pixel.
struct Target {
  std::uint8_t* data;
  std::ptrdiff_t channel;
  std::ptrdiff_t row;
  std::ptrdiff_t pixel;
};

struct Request {
  int channels = 0;  // 1, 3; 0: as the header says
  // JPEG alone: pixels are computed at this many eighths of the size (1, 2, 4 or 8), rounded up.
  int eighths = 8;
  Window window{};      // of the picture at that size; must lie inside
  bool strict = false;  // JPEG alone: damage that libjpeg would paint over is an error
  bool rgbx = false;    // JPEG alone: the target's pixels have a fourth byte, which may be written
};

// Of eight-bit samples at `eighths` of the size.
inline std::int64_t scaled(std::int64_t size, int eighths) {
  return (size * eighths + 7) / 8;
}

// A compressed picture whose header has been read. Its bytes must outlive it. One thread.
class Picture {
 public:
  virtual ~Picture() = default;
  virtual Header header() const = 0;
  // Once. Throws Error(kDataLoss) with what the format's library says.
  virtual void decode(const Request& request, const Target& target) = 0;
};

// Reads the header and nothing else. Throws Error(kDataLoss): no JPEG or PNG, a damaged or unsupported header, more
// than `max_pixels`, or more pixels than so few bytes can stand for.
std::unique_ptr<Picture> open(Bytes bytes, std::int64_t max_pixels);

// The formats, without those limits.
std::unique_ptr<Picture> open_jpeg(Bytes bytes);
std::unique_ptr<Picture> open_png(Bytes bytes);

// Puts `width` interleaved pixels into row `y` of the target.
void store_row(const std::uint8_t* pixels, int channels, std::int64_t width, std::int64_t y, const Target& target);
// The same of pixels of four bytes, the last of which does not count: taking those apart costs a fraction.
void store_rgbx_row(const std::uint8_t* pixels, std::int64_t width, std::int64_t y, const Target& target);

}  // namespace tandem::image
