// JPEG by libjpeg-turbo. Its errors leave by longjmp, so whatever has a destructor lives outside of guarded().
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <vector>

#include <jpeglib.h>

#include <jerror.h>

#include "data/decode/pixels.h"
#include "tandem/error.h"

namespace tandem::image {
namespace {

// A progressive picture may have any number of scans, each of which goes over all of it.
constexpr int kMostScans = 100;
// Smooth upsampling of colours looks at neighbours, so that a window's edge is right only inside of a margin.
constexpr JDIMENSION kMargin = 8;
// A block of 64 samples takes a bit at least; arithmetic coding can do with less.
constexpr std::int64_t kHuffmanPixelsPerByte = 8 * 64;
constexpr std::int64_t kArithmeticPixelsPerByte = 64 * 1024;
// Rows that begin at a multiple of it are written past the cache.
constexpr std::size_t kStreamedAlignment = 32;

struct Failure {
  jpeg_error_mgr manager;  // first: libjpeg knows only this
  std::jmp_buf jump;
  bool strict = false;
  char message[JMSG_LENGTH_MAX] = {};
};

[[noreturn]] void leave(j_common_ptr info, const char* message) {
  auto* const failure = reinterpret_cast<Failure*>(info->err);
  std::snprintf(failure->message, sizeof failure->message, "%s", message);
  std::longjmp(failure->jump, 1);
}

void on_error(j_common_ptr info) {
  char message[JMSG_LENGTH_MAX];
  info->err->format_message(info, message);
  leave(info, message);
}

void on_message(j_common_ptr info, int level) {
  if (level < 0 && reinterpret_cast<Failure*>(info->err)->strict) on_error(info);
}

void on_progress(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMostScans) leave(info, "it has too many scans");
}

boolean on_end(j_decompress_ptr info) {
  leave(reinterpret_cast<j_common_ptr>(info), "it is truncated");
}

void skip_input(j_decompress_ptr info, long count) {
  if (count <= 0) return;
  if (static_cast<std::size_t>(count) > info->src->bytes_in_buffer) on_end(info);
  info->src->next_input_byte += count;
  info->src->bytes_in_buffer -= static_cast<std::size_t>(count);
}

// As Pillow does it: key minus key times the ink that is missing.
void cmyk_to_rgb(const std::uint8_t* cmyk, std::uint8_t* rgb, std::size_t width, bool inverted) {
  const std::uint8_t flip = inverted ? 0 : 0xff;
  for (std::size_t x = 0; x < width; ++x) {
    const int key = cmyk[4 * x + 3] ^ flip;
    for (std::size_t c = 0; c < 3; ++c) {
      const int v = key * (255 - (cmyk[4 * x + c] ^ flip)) + 128;
      rgb[3 * x + c] = static_cast<std::uint8_t>(key - (((v >> 8) + v) >> 8));
    }
  }
}

void rgb_to_gray(const std::uint8_t* rgb, std::uint8_t* gray, std::size_t width) {
  for (std::size_t x = 0; x < width; ++x) {
    gray[x] = static_cast<std::uint8_t>((rgb[3 * x] * 299 + rgb[3 * x + 1] * 587 + rgb[3 * x + 2] * 114 + 500) / 1000);
  }
}

// Where a row begins that is read again, which would otherwise wait for memory; less than kStreamedAlignment further.
std::uint8_t* to_be_cached(std::uint8_t* at) {
  const auto over = reinterpret_cast<std::uintptr_t>(at) % kStreamedAlignment;
  return at + (kStreamedAlignment + kStreamedAlignment / 2 - over) % kStreamedAlignment;
}

// Frees what libjpeg holds, also where a constructor throws.
struct Info : jpeg_decompress_struct {
  Info() : jpeg_decompress_struct{} {}
  ~Info() { jpeg_destroy_decompress(this); }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
};

class Jpeg : public Picture {
 public:
  explicit Jpeg(Bytes bytes) {
    info_.err = jpeg_std_error(&failure_.manager);
    failure_.manager.error_exit = on_error;
    failure_.manager.emit_message = on_message;
    failure_.manager.output_message = [](j_common_ptr) {};
    guarded([&] {
      jpeg_create_decompress(&info_);
      source_.next_input_byte = bytes.data();
      source_.bytes_in_buffer = bytes.size();
      source_.init_source = [](j_decompress_ptr) {};
      source_.fill_input_buffer = on_end;
      source_.skip_input_data = skip_input;
      source_.resync_to_restart = jpeg_resync_to_restart;
      source_.term_source = [](j_decompress_ptr) {};
      info_.src = &source_;
      progress_.progress_monitor = on_progress;
      info_.progress = &progress_;
      jpeg_read_header(&info_, TRUE);
    });
  }
  Header header() const override {
    return {Format::kJpeg, info_.image_height, info_.image_width, info_.num_components == 1 ? 1 : 3,
            info_.arith_code ? kArithmeticPixelsPerByte : kHuffmanPixelsPerByte};
  }

  void decode(const Request& request, const Target& target) override {
    const int channels = request.channels ? request.channels : header().channels;
    const bool inks = info_.num_components == 4;
    // To take colours apart, four bytes a pixel are quicker than three.
    const bool rgbx = channels == 3 && !inks && (request.rgbx || target.pixel != 3);
    failure_.strict = request.strict;
    // A window's columns as libjpeg gives them: it begins at a whole block.
    const auto left = static_cast<JDIMENSION>(request.window.left);
    const auto width = static_cast<JDIMENSION>(request.window.width);
    JDIMENSION first = 0, columns = 0;
    guarded([&] {
      info_.out_color_space = inks ? JCS_CMYK : channels == 1 ? JCS_GRAYSCALE : rgbx ? JCS_EXT_RGBX : JCS_RGB;
      info_.scale_num = static_cast<unsigned>(request.eighths);
      info_.scale_denom = 8;
      jpeg_start_decompress(&info_);
      columns = info_.output_width;
      if (width < info_.output_width) {
        first = left > kMargin ? left - kMargin : 0;
        const JDIMENSION end = std::min(left + width + kMargin, info_.output_width);
        columns = end - first;
        jpeg_crop_scanline(&info_, &first, &columns);
      }
    });
    const auto pixel_bytes = static_cast<std::size_t>(info_.output_components);
    const bool in_place =
        !rgbx && !inks && target.pixel == channels && columns == width && (target.channel == 1 || channels == 1);
    std::vector<std::uint8_t> row(columns * pixel_bytes + kStreamedAlignment);
    std::vector<std::uint8_t> rgb(inks ? static_cast<std::size_t>(width) * 3 : 0);
    std::uint8_t* const row_data = to_be_cached(row.data());
    std::uint8_t* const rgb_data = rgb.data();
    guarded([&] {
      const std::uint8_t* const pixels = row_data + (left - first) * pixel_bytes;
      if (request.window.top > 0) jpeg_skip_scanlines(&info_, static_cast<JDIMENSION>(request.window.top));
      for (std::int64_t y = 0; y < request.window.height; ++y) {
        JSAMPROW out = in_place ? target.data + y * target.row : row_data;
        jpeg_read_scanlines(&info_, &out, 1);
        if (in_place) continue;
        if (request.rgbx) {
          std::memcpy(target.data + y * target.row, pixels, width * pixel_bytes);
        } else if (rgbx) {
          store_rgbx_row(pixels, width, y, target);
        } else if (inks) {
          cmyk_to_rgb(pixels, rgb_data, width, info_.saw_Adobe_marker);
          if (channels == 1) rgb_to_gray(rgb_data, rgb_data, width);
          store_row(rgb_data, channels, width, y, target);
        } else {
          store_row(pixels, channels, width, y, target);
        }
      }
      // Reads up to the end marker, and so finds a tail that is cut off.
      if (info_.output_scanline == info_.output_height) jpeg_finish_decompress(&info_);
    });
  }

 private:
  // Runs `body`, which must not hold anything that has a destructor.
  template <typename Body>
  void guarded(const Body& body) {
    if (setjmp(failure_.jump) == 0) {
      body();
      return;
    }
    const bool memory = failure_.manager.msg_code == JERR_OUT_OF_MEMORY;
    throw Error(memory ? ErrorCode::kOutOfMemory : ErrorCode::kDataLoss,
                std::string("cannot decode the JPEG: ") + failure_.message);
  }

  Failure failure_;
  jpeg_source_mgr source_{};
  jpeg_progress_mgr progress_{};
  Info info_;
};

}  // namespace

std::unique_ptr<Picture> open_jpeg(Bytes bytes) {
  return std::make_unique<Jpeg>(bytes);
}

}  // namespace tandem::image
