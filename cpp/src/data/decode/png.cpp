// PNG by libpng. Its errors leave by longjmp, so whatever has a destructor lives outside of guarded().
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <vector>

#include "data/decode/pixels.h"
#include "tandem/error.h"

namespace tandem::image {
namespace {

constexpr png_uint_32 kMostPngPixelsASide = 1u << 24;
constexpr png_alloc_size_t kMostChunkBytes = 8u << 20;  // of texts and profiles, which may be compressed
// zlib shrinks by at most 1032, and a pixel has at least a bit.
constexpr std::int64_t kPixelsPerByte = 8 * 1032;
// ITU-R BT.601, as Pillow and torchvision weigh colours; in 1/100000.
constexpr png_fixed_point kRed = 29890, kGreen = 58700;

class Png : public Picture {
 public:
  explicit Png(Bytes bytes) : rest_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, [](png_structp, png_const_charp) {});
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw Error(ErrorCode::kOutOfMemory, "cannot decode the PNG: libpng has no memory");
    }
    try {
      guarded([&] {
        png_set_user_limits(png_, kMostPngPixelsASide, kMostPngPixelsASide);
        png_set_chunk_malloc_max(png_, kMostChunkBytes);
        png_set_read_fn(png_, this, on_read);
        png_read_info(png_, info_);
      });
    } catch (...) {
      png_destroy_read_struct(&png_, &info_, nullptr);
      throw;
    }
  }
  ~Png() override { png_destroy_read_struct(&png_, &info_, nullptr); }
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;

  Header header() const override {
    const int type = png_get_color_type(png_, info_);
    const bool alpha = (type & PNG_COLOR_MASK_ALPHA) || png_get_valid(png_, info_, PNG_INFO_tRNS);
    const int channels = ((type & PNG_COLOR_MASK_COLOR) ? 3 : 1) + (alpha ? 1 : 0);
    return {Format::kPng, png_get_image_height(png_, info_), png_get_image_width(png_, info_), channels,
            kPixelsPerByte};
  }

  void decode(const Request& request, const Target& target) override {
    const Header picture = header();
    const int channels = request.channels ? request.channels : picture.channels;
    int passes = 1;
    guarded([&] {
      const int type = png_get_color_type(png_, info_);
      if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
      if (type == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png_);
      png_set_scale_16(png_);
      if (request.channels) {
        png_set_strip_alpha(png_);
        if (channels == 1 && (type & PNG_COLOR_MASK_COLOR)) {
          png_set_rgb_to_gray_fixed(png_, PNG_ERROR_ACTION_NONE, kRed, kGreen);
        }
        if (channels == 3 && !(type & PNG_COLOR_MASK_COLOR)) png_set_gray_to_rgb(png_);
      } else if (png_get_valid(png_, info_, PNG_INFO_tRNS)) {
        png_set_tRNS_to_alpha(png_);
      }
      passes = png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
      if (png_get_channels(png_, info_) != channels) png_error(png_, "its pixels have an unusual layout");
    });
    const std::size_t row_bytes = png_get_rowbytes(png_, info_);
    const auto height = static_cast<std::size_t>(picture.height);
    // Passes of an interlaced picture need all of it at once.
    std::vector<std::uint8_t> rows(row_bytes * (passes > 1 ? height : 1));
    std::uint8_t* const data = rows.data();
    const std::size_t step = passes > 1 ? row_bytes : 0;
    const auto top = static_cast<std::size_t>(request.window.top);
    const std::size_t end = top + static_cast<std::size_t>(request.window.height);
    const std::size_t first = static_cast<std::size_t>(request.window.left * channels);
    guarded([&] {
      for (int pass = 0; pass < passes; ++pass) {
        const bool last = pass + 1 == passes;
        for (std::size_t y = 0; y < (passes > 1 ? height : end); ++y) {
          png_read_row(png_, data + y * step, nullptr);
          if (last && y >= top && y < end) {
            store_row(data + y * step + first, channels, request.window.width, static_cast<std::int64_t>(y - top),
                      target);
          }
        }
      }
      // Checks the last checksums, and so finds a tail that is cut off.
      if (end == height) png_read_end(png_, nullptr);
    });
  }

 private:
  [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
    auto* const self = static_cast<Png*>(png_get_error_ptr(png));
    std::snprintf(self->message_, sizeof self->message_, "%s", message);
    std::longjmp(self->jump_, 1);
  }

  static void on_read(png_structp png, png_bytep out, std::size_t size) {
    Bytes& rest = static_cast<Png*>(png_get_io_ptr(png))->rest_;
    if (size > rest.size()) png_error(png, "it is truncated");
    std::memcpy(out, rest.data(), size);
    rest = rest.subspan(size);
  }

  // Runs `body`, which must not hold anything that has a destructor.
  template <typename Body>
  void guarded(const Body& body) {
    if (setjmp(jump_) == 0) {
      body();
      return;
    }
    throw Error(ErrorCode::kDataLoss, std::string("cannot decode the PNG: ") + message_);
  }

  Bytes rest_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf jump_;
  char message_[200] = {};
};

}  // namespace

std::unique_ptr<Picture> open_png(Bytes bytes) {
  return std::make_unique<Png>(bytes);
}

}  // namespace tandem::image
