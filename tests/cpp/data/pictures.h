// Pictures to decode: drawn, and compressed by the formats' own libraries.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <jpeglib.h>
#include <png.h>

namespace tandem::test {

using FileBytes = std::vector<std::uint8_t>;

// Interleaved pixels.
struct Pixels {
  int height;
  int width;
  int channels;
  FileBytes data;
};

// Smooth colours with edges in them, so that JPEG keeps them well but any shift shows.
inline Pixels draw(int height, int width, int channels, unsigned seed = 0) {
  Pixels pixels{height, width, channels, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const bool inside =
            (x - width / 3) * (x - width / 3) + (y - height / 2) * (y - height / 2) < height * width / 16;
        const int value =
            (c * 70 + x * (3 + c) * 255 / (4 * width) + y * (c + 1) * 100 / height + static_cast<int>(seed * 37)) % 200;
        pixels.data.push_back(static_cast<std::uint8_t>(inside ? 255 - value : value));
      }
    }
  }
  return pixels;
}

struct JpegStyle {
  int quality = 90;
  int horizontal = 2, vertical = 2;  // subsampling of colours
  bool progressive = false;
  bool inks = false;  // pixels are CMYK, inverted as Adobe's are
  int restart_rows = 0;
  bool arithmetic = false;
};

inline FileBytes encode_jpeg(const Pixels& pixels, const JpegStyle& style = {}) {
  jpeg_compress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);  // ends the process on errors, of which a test has none
  jpeg_create_compress(&info);
  unsigned char* out = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &out, &size);
  info.image_height = static_cast<JDIMENSION>(pixels.height);
  info.image_width = static_cast<JDIMENSION>(pixels.width);
  info.input_components = pixels.channels;
  info.in_color_space = style.inks ? JCS_CMYK : pixels.channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_set_defaults(&info);
  if (style.inks) jpeg_set_colorspace(&info, JCS_YCCK);
  jpeg_set_quality(&info, style.quality, TRUE);
  info.comp_info[0].h_samp_factor = pixels.channels >= 3 ? style.horizontal : 1;
  info.comp_info[0].v_samp_factor = pixels.channels >= 3 ? style.vertical : 1;
  if (style.inks) {
    info.comp_info[3].h_samp_factor = style.horizontal;
    info.comp_info[3].v_samp_factor = style.vertical;
  }
  info.restart_in_rows = style.restart_rows;
  info.arith_code = style.arithmetic;
  if (style.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPROW>(pixels.data.data() +
                                     static_cast<std::size_t>(info.next_scanline) * pixels.width * pixels.channels);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  FileBytes bytes(out, out + size);
  std::free(out);
  return bytes;
}

// The whole picture at `eighths` of its size, as libjpeg's example does it.
inline Pixels decode_jpeg_plainly(const FileBytes& bytes, J_COLOR_SPACE space = JCS_RGB, int eighths = 8) {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, bytes.data(), bytes.size());
  jpeg_read_header(&info, TRUE);
  info.out_color_space = space;
  info.scale_num = static_cast<unsigned>(eighths);
  info.scale_denom = 8;
  jpeg_start_decompress(&info);
  Pixels pixels{static_cast<int>(info.output_height), static_cast<int>(info.output_width), info.output_components, {}};
  pixels.data.resize(static_cast<std::size_t>(pixels.height) * pixels.width * pixels.channels);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = pixels.data.data() + static_cast<std::size_t>(info.output_scanline) * pixels.width * pixels.channels;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return pixels;
}

struct PngStyle {
  int color_type = PNG_COLOR_TYPE_RGB;
  int bits = 8;
  bool interlaced = false;
  FileBytes palette = {};       // of PNG_COLOR_TYPE_PALETTE: RGB triples
  FileBytes transparency = {};  // of its entries
};

// Rows of `pixels.data` are what PNG stores: with 16 bits two bytes a sample, with fewer than 8 packed.
inline FileBytes encode_png(const Pixels& pixels, const PngStyle& style = {}) {
  FileBytes bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &bytes,
      [](png_structp writer, png_bytep data, std::size_t size) {
        auto* const out = static_cast<FileBytes*>(png_get_io_ptr(writer));
        out->insert(out->end(), data, data + size);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(pixels.width), static_cast<png_uint_32>(pixels.height), style.bits,
               style.color_type, style.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (!style.palette.empty()) {
    std::vector<png_color> colors;
    for (std::size_t i = 0; i + 2 < style.palette.size(); i += 3) {
      colors.push_back({style.palette[i], style.palette[i + 1], style.palette[i + 2]});
    }
    png_set_PLTE(png, info, colors.data(), static_cast<int>(colors.size()));
  }
  if (!style.transparency.empty()) {
    png_set_tRNS(png, info, style.transparency.data(), static_cast<int>(style.transparency.size()), nullptr);
  }
  png_write_info(png, info);
  std::vector<png_bytep> rows;
  const std::size_t row_bytes = png_get_rowbytes(png, info);
  if (pixels.data.size() != row_bytes * static_cast<std::size_t>(pixels.height)) throw std::logic_error("PNG rows");
  for (int y = 0; y < pixels.height; ++y) {
    rows.push_back(const_cast<png_bytep>(pixels.data.data()) + static_cast<std::size_t>(y) * row_bytes);
  }
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

}  // namespace tandem::test
