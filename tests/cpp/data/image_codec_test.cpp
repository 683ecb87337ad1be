#include "tandem/image_codec.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include "cpp/data/expect_error.h"
#include "cpp/data/pictures.h"

namespace tandem::image_codec_test {
namespace {

using test::draw;
using test::encode_jpeg;
using test::encode_png;
using test::FileBytes;
using test::JpegStyle;
using test::Pixels;
using test::PngStyle;

at::Tensor tensor_of(const Pixels& pixels) {
  return at::tensor(at::ArrayRef<std::uint8_t>(pixels.data), at::kByte)
      .view({pixels.height, pixels.width, pixels.channels})
      .permute({2, 0, 1});
}

ImageDecodeOptions options_of(ImageMode mode) {
  ImageDecodeOptions options;
  options.mode = mode;
  return options;
}

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return a.to(at::kFloat).sub(b.to(at::kFloat)).abs().max().item<double>();
}

// Every way in which JPEGs of colour differ as far as decoding goes.
std::vector<JpegStyle> jpeg_styles() {
  std::vector<JpegStyle> styles;
  for (const auto& [horizontal, vertical] : {std::pair{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}}) {
    for (const bool progressive : {false, true}) {
      styles.push_back({90, horizontal, vertical, progressive});
    }
  }
  styles.push_back({90, 2, 2, false, false, 1});
  return styles;
}

TEST(ImageCodec, JpegsHaveLibjpegsPixels) {
  for (const JpegStyle& style : jpeg_styles()) {
    const Pixels drawn = draw(61, 83, 3);
    const FileBytes bytes = encode_jpeg(drawn, style);
    const at::Tensor image = decode_image(bytes);
    ASSERT_EQ(image.sizes(), at::IntArrayRef({3, 61, 83}));
    EXPECT_EQ(image.scalar_type(), at::kByte);
    EXPECT_TRUE(image.is_contiguous());
    EXPECT_TRUE(image.equal(tensor_of(test::decode_jpeg_plainly(bytes))));
    EXPECT_LT(image.to(at::kFloat).sub(tensor_of(drawn)).abs().mean().item<double>(), 12);  // not another picture
    EXPECT_TRUE(decode_image(bytes, options_of(ImageMode::kGray))
                    .equal(tensor_of(test::decode_jpeg_plainly(bytes, JCS_GRAYSCALE))));
  }
}

TEST(ImageCodec, LayoutAndPlaceAreTheCallers) {
  const FileBytes bytes = encode_jpeg(draw(20, 30, 3));
  const at::Tensor planes = decode_image(bytes);
  ImageDecodeOptions options;
  options.layout = ImageLayout::kHWC;
  const at::Tensor interleaved = decode_image(bytes, options);
  EXPECT_TRUE(interleaved.is_contiguous());
  EXPECT_TRUE(interleaved.equal(planes.permute({1, 2, 0})));

  const at::Tensor batch = at::full({3, 3, 20, 30}, 7, at::kByte);
  decode_image_into(bytes, {}, batch[1]);
  EXPECT_TRUE(batch[1].equal(planes));
  EXPECT_TRUE(batch[0].eq(7).all().item<bool>() && batch[2].eq(7).all().item<bool>());
  const at::Tensor strided = at::full({3, 20, 60}, 7, at::kByte);
  decode_image_into(bytes, {}, strided.slice(2, 0, 60, 2));
  EXPECT_TRUE(strided.slice(2, 0, 60, 2).equal(planes));
  EXPECT_TRUE(strided.slice(2, 1, 60, 2).eq(7).all().item<bool>());
  const at::Tensor wider = at::full({20, 30, 4}, 7, at::kByte);
  decode_image_into(bytes, options, wider.narrow(2, 0, 3));
  EXPECT_TRUE(wider.narrow(2, 0, 3).equal(interleaved));
  EXPECT_TRUE(wider.select(2, 3).eq(7).all().item<bool>());
  EXPECT_ERROR(decode_image_into(bytes, {}, at::empty({3, 20, 31}, at::kByte)), ErrorCode::kInvalidArgument,
               "[3, 20, 30]", "[3, 20, 31]");
  EXPECT_ERROR(decode_image_into(bytes, {}, at::empty({3, 20, 30})), ErrorCode::kInvalidArgument, "uint8");
}

TEST(ImageCodec, GrayPicturesBecomeWhatIsAskedFor) {
  const Pixels drawn = draw(17, 19, 1);
  for (const FileBytes& bytes : {encode_jpeg(drawn, {95}), encode_png(drawn, {PNG_COLOR_TYPE_GRAY})}) {
    const at::Tensor gray = decode_image(bytes);
    ASSERT_EQ(gray.sizes(), at::IntArrayRef({1, 17, 19}));
    const at::Tensor colors = decode_image(bytes, options_of(ImageMode::kRGB));
    EXPECT_TRUE(colors.equal(gray.expand({3, 17, 19})));
  }
  EXPECT_EQ(read_image_info(encode_jpeg(drawn)).format, "jpeg");
  EXPECT_EQ(read_image_info(encode_jpeg(drawn)).channels, 1);
}

TEST(ImageCodec, InksBecomeColors) {
  // Adobe's inks are inverted: 255 is none. White, black, pure cyan, and half of the key.
  Pixels inks{16, 64, 4, {}};
  for (int y = 0; y < 16; ++y) {
    for (int x = 0; x < 64; ++x) {
      const int part = x / 16;
      const FileBytes color = part == 0   ? FileBytes{255, 255, 255, 255}
                              : part == 1 ? FileBytes{255, 255, 255, 0}
                              : part == 2 ? FileBytes{0, 255, 255, 255}
                                          : FileBytes{255, 255, 255, 128};
      inks.data.insert(inks.data.end(), color.begin(), color.end());
    }
  }
  const FileBytes bytes = encode_jpeg(inks, {100, 1, 1, false, true});
  EXPECT_EQ(read_image_info(bytes).channels, 3);
  const at::Tensor image = decode_image(bytes);
  const auto color_at = [&](int x) { return image.slice(1, 8, 9).slice(2, x, x + 1).flatten(); };
  EXPECT_LE(largest_difference(color_at(8), at::tensor({255, 255, 255})), 3);
  EXPECT_LE(largest_difference(color_at(24), at::tensor({0, 0, 0})), 3);
  EXPECT_LE(largest_difference(color_at(40), at::tensor({0, 255, 255})), 3);
  EXPECT_LE(largest_difference(color_at(56), at::tensor({128, 128, 128})), 3);
  const at::Tensor gray = decode_image(bytes, options_of(ImageMode::kGray));
  ASSERT_EQ(gray.size(0), 1);
  const at::Tensor expected = image[0].to(at::kFloat).mul(0.299).add(image[1], 0.587).add(image[2], 0.114);
  EXPECT_LE(largest_difference(gray[0], expected), 1);
}

TEST(ImageCodec, PngsAreExact) {
  for (const bool interlaced : {false, true}) {
    const Pixels rgb = draw(33, 29, 3);
    EXPECT_TRUE(decode_image(encode_png(rgb, {PNG_COLOR_TYPE_RGB, 8, interlaced})).equal(tensor_of(rgb)));
    const Pixels rgba = draw(33, 29, 4);
    const FileBytes with_alpha = encode_png(rgba, {PNG_COLOR_TYPE_RGB_ALPHA, 8, interlaced});
    EXPECT_TRUE(decode_image(with_alpha).equal(tensor_of(rgba)));
    EXPECT_TRUE(decode_image(with_alpha, options_of(ImageMode::kRGB)).equal(tensor_of(rgba).slice(0, 0, 3)));
    const at::Tensor t = tensor_of(rgba).to(at::kFloat);
    EXPECT_LE(largest_difference(decode_image(with_alpha, options_of(ImageMode::kGray))[0],
                                 t[0].mul(0.2989).add(t[1], 0.587).add(t[2], 0.114)),
              1);
    const Pixels gray_alpha = draw(33, 29, 2);
    EXPECT_TRUE(
        decode_image(encode_png(gray_alpha, {PNG_COLOR_TYPE_GRAY_ALPHA, 8, interlaced})).equal(tensor_of(gray_alpha)));
  }
}

TEST(ImageCodec, PngsOfOtherDepthsBecomeBytes) {
  // 16 bits: the upper half, rounded. 0x1234 is 0x12 and a bit; 0xfffe is nearly 0xff.
  const FileBytes deep = encode_png({1, 2, 1, {0x12, 0x34, 0xff, 0xfe}}, {PNG_COLOR_TYPE_GRAY, 16});
  EXPECT_TRUE(decode_image(deep).flatten().equal(at::tensor({0x12, 0xff}, at::kByte)));
  const FileBytes bits = encode_png({1, 8, 1, {0b10110001}}, {PNG_COLOR_TYPE_GRAY, 1});
  EXPECT_TRUE(decode_image(bits).flatten().equal(at::tensor({255, 0, 255, 255, 0, 0, 0, 255}, at::kByte)));
  PngStyle palette{PNG_COLOR_TYPE_PALETTE, 8, false, {1, 2, 3, 40, 50, 60}, {}};
  const at::Tensor colors = at::tensor({40, 1, 50, 2, 60, 3}, at::kByte).view({3, 1, 2});
  EXPECT_TRUE(decode_image(encode_png({1, 2, 1, {1, 0}}, palette)).equal(colors));
  palette.transparency = {9};
  const at::Tensor with_alpha = decode_image(encode_png({1, 2, 1, {1, 0}}, palette));
  EXPECT_TRUE(with_alpha.equal(at::cat({colors, at::tensor({255, 9}, at::kByte).view({1, 1, 2})})));
  EXPECT_TRUE(decode_image(encode_png({1, 2, 1, {1, 0}}, palette), options_of(ImageMode::kRGB)).equal(colors));
}

TEST(ImageCodec, AWindowHasThePixelsOfTheWhole) {
  const Pixels drawn = draw(75, 90, 3);
  std::vector<FileBytes> files = {encode_png(drawn), encode_png(drawn, {PNG_COLOR_TYPE_RGB, 8, true})};
  for (const JpegStyle& style : jpeg_styles()) files.push_back(encode_jpeg(drawn, style));
  for (const FileBytes& bytes : files) {
    const at::Tensor whole = decode_image(bytes);
    for (const ImageWindow& w : std::vector<ImageWindow>{{0, 0, 75, 90},
                                                         {0, 0, 1, 1},
                                                         {74, 89, 1, 1},
                                                         {16, 32, 16, 16},
                                                         {17, 33, 30, 21},
                                                         {5, 1, 70, 88},
                                                         {40, 0, 35, 90},
                                                         {1, 50, 74, 40},
                                                         {31, 47, 2, 3}}) {
      ImageDecodeOptions options;
      options.window = w;
      const at::Tensor expected = whole.slice(1, w.top, w.top + w.height).slice(2, w.left, w.left + w.width);
      EXPECT_TRUE(decode_image(bytes, options).equal(expected))
          << "file " << &bytes - files.data() << ", window " << w.top << " " << w.left << " " << w.height << " "
          << w.width << ": differs by " << largest_difference(decode_image(bytes, options), expected);
    }
    ImageDecodeOptions outside;
    outside.window = ImageWindow{0, 80, 75, 11};
    EXPECT_ERROR(decode_image(bytes, outside), ErrorCode::kInvalidArgument, "75 × 11", "75 × 90");
  }
}

TEST(ImageCodec, FastScalingGivesTheSmallestSizeThatIsEnough) {
  const FileBytes bytes = encode_jpeg(draw(100, 201, 3));
  const auto sizes_of = [&](std::int64_t min_height, std::int64_t min_width, std::optional<ImageWindow> window = {}) {
    ImageDecodeOptions options;
    options.min_height = min_height;
    options.min_width = min_width;
    options.window = window;
    return decode_image(bytes, options).sizes().vec();
  };
  using Sizes = std::vector<std::int64_t>;
  EXPECT_EQ(sizes_of(0, 0), (Sizes{3, 100, 201}));
  EXPECT_EQ(sizes_of(51, 1), (Sizes{3, 100, 201}));
  EXPECT_EQ(sizes_of(50, 100), (Sizes{3, 50, 101}));
  EXPECT_EQ(sizes_of(25, 50), (Sizes{3, 25, 51}));
  EXPECT_EQ(sizes_of(1, 1), (Sizes{3, 13, 26}));
  EXPECT_EQ(sizes_of(20, 20, ImageWindow{10, 20, 40, 40}), (Sizes{3, 20, 20}));
  ImageDecodeOptions half;
  half.min_height = 50;
  half.min_width = 100;
  EXPECT_TRUE(decode_image(bytes, half).equal(tensor_of(test::decode_jpeg_plainly(bytes, JCS_RGB, 4))));
  // It takes no notice in a PNG.
  EXPECT_EQ(decode_image(encode_png(draw(8, 8, 3)), half).sizes(), at::IntArrayRef({3, 8, 8}));
}

TEST(ImageCodec, EveryCutOfAFileIsRefusedAndLeavesNothing) {
  const Pixels drawn = draw(40, 40, 3);
  const std::size_t before = mallinfo2().uordblks;
  for (const FileBytes& bytes : {encode_jpeg(drawn), encode_jpeg(drawn, {90, 2, 2, true}), encode_png(drawn),
                                 encode_png(drawn, {PNG_COLOR_TYPE_RGB, 8, true})}) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_ERROR(decode_image({bytes.data(), size}), ErrorCode::kDataLoss, "");
    }
    EXPECT_ERROR(decode_image({bytes.data(), bytes.size() / 2}), ErrorCode::kDataLoss, "truncated");
  }
  EXPECT_LT(mallinfo2().uordblks, before + 100'000);  // thousands of pictures were begun
}

TEST(ImageCodec, ErrorsSayWhatIsWrong) {
  EXPECT_ERROR(decode_image({}), ErrorCode::kDataLoss, "empty");
  const std::string text = "<html>not found</html>";
  EXPECT_ERROR(decode_image({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}), ErrorCode::kDataLoss,
               "neither JPEG nor PNG", "22 bytes", "3c 68 74 6d 6c");
  FileBytes damaged = encode_png(draw(20, 20, 3));
  damaged[damaged.size() - 14] ^= 1;  // in the pixels' checksum
  EXPECT_ERROR(decode_image(damaged), ErrorCode::kDataLoss, "PNG", "CRC");
  EXPECT_ERROR(decode_image(encode_png(draw(2, 2, 3)), options_of(static_cast<ImageMode>(7))),
               ErrorCode::kInvalidArgument, "mode 7");
}

TEST(ImageCodec, StrictlyDamageIsAnErrorThatIsOtherwisePaintedOver) {
  FileBytes bytes = encode_jpeg(draw(64, 64, 3), {90, 2, 2, false, false, 1});
  for (std::size_t i = bytes.size() / 2; i < bytes.size() / 2 + 8; ++i) bytes[i] = 0x55;
  EXPECT_EQ(decode_image(bytes).sizes(), at::IntArrayRef({3, 64, 64}));
  ImageDecodeOptions options;
  options.strict = true;
  EXPECT_ERROR(decode_image(bytes, options), ErrorCode::kDataLoss, "JPEG");
}

TEST(ImageCodec, SizesThatAFileOnlyClaimsTakeNoMemory) {
  FileBytes jpeg = encode_jpeg(draw(8, 8, 3));
  for (std::size_t i = 0; i + 9 < jpeg.size(); ++i) {
    if (jpeg[i] == 0xff && jpeg[i + 1] == 0xc0) {  // height and width stand 5 bytes after the frame's marker
      jpeg[i + 5] = jpeg[i + 7] = 0xff;
      break;
    }
  }
  EXPECT_ERROR(decode_image(jpeg), ErrorCode::kDataLoss, "more than the limit of 178956970");
  ImageDecodeOptions options;
  options.max_pixels = INT64_MAX;
  EXPECT_ERROR(decode_image(jpeg, options), ErrorCode::kDataLoss, "cannot hold");
  const FileBytes png = encode_png(draw(30, 40, 3));
  options.max_pixels = 30 * 40 - 1;
  EXPECT_ERROR(decode_image(png, options), ErrorCode::kDataLoss, "40 × 30", "1199");
  options.max_pixels = 30 * 40;
  EXPECT_EQ(decode_image(png, options).numel(), 3600);
}

}  // namespace
}  // namespace tandem::image_codec_test
