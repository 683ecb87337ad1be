#include "tandem/image_fit.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cpp/data/expect_error.h"
#include "cpp/data/pictures.h"
#include "tandem/batch_transform.h"
#include "tandem/sample_random.h"

namespace tandem::image_fit_test {
namespace {

using test::draw;
using test::FileBytes;

ImageFit fit_of(ImageFit::Kind kind, std::int64_t height, std::int64_t width) {
  ImageFit fit;
  fit.kind = kind;
  fit.height = height;
  fit.width = width;
  return fit;
}

at::Tensor interpolated(const at::Tensor& image, std::int64_t height, std::int64_t width) {
  return at::_upsample_bilinear2d_aa(image.unsqueeze(0), {height, width}, false)[0];
}

class ImageFitTest : public testing::Test {
 protected:
  const FileBytes jpeg_ = test::encode_jpeg(draw(90, 140, 3));
  const at::Tensor whole_ = decode_image(jpeg_);
};

TEST_F(ImageFitTest, ResizeIsThatOfTheDecodedPicture) {
  const at::Tensor fitted = decode_fitted(jpeg_, {}, fit_of(ImageFit::Kind::kResize, 40, 50), 0);
  EXPECT_TRUE(fitted.equal(interpolated(whole_, 40, 50)));
  EXPECT_TRUE(fitted.is_contiguous());
  EXPECT_TRUE(decode_fitted(jpeg_, {}, fit_of(ImageFit::Kind::kResize, 90, 140), 0).equal(whole_));
  EXPECT_TRUE(decode_fitted(jpeg_, {}, {}, 0).equal(whole_));
  ImageFit plain = fit_of(ImageFit::Kind::kResize, 200, 99);
  plain.antialias = false;
  EXPECT_TRUE(
      decode_fitted(jpeg_, {}, plain, 0).equal(at::upsample_bilinear2d(whole_.unsqueeze(0), {200, 99}, false)[0]));
}

TEST_F(ImageFitTest, RandomResizedCropIsTheBatchStepsOnTheDecodedPicture) {
  RandomResizedCropOptions options;
  options.resize = {32, 32};
  for (std::uint64_t sample = 0; sample < 20; ++sample) {
    const std::uint64_t randomness = sample_randomness(1, 0, sample);
    Batch batch{{"image"}, {whole_.unsqueeze(0)}, {randomness}};
    random_resized_crop({"image"}, options)->apply(batch);
    random_horizontal_flip({"image"})->apply(batch);
    ImageFit fit = fit_of(ImageFit::Kind::kRandomResizedCrop, 32, 32);
    fit.flip = true;
    EXPECT_TRUE(decode_fitted(jpeg_, {}, fit, randomness).equal(batch.tensors[0][0])) << sample;
  }
}

TEST_F(ImageFitTest, CenterCropIsTorchvisionsResizeAndCenterCrop) {
  ImageFit fit = fit_of(ImageFit::Kind::kCenterCrop, 40, 44);
  fit.shorter = 64;
  const at::Tensor resized = interpolated(whole_, 64, 64 * 140 / 90);
  Batch batch{{"image"}, {resized.unsqueeze(0)}, {}};
  center_crop({"image"}, 40, 44)->apply(batch);
  EXPECT_TRUE(decode_fitted(jpeg_, {}, fit, 0).equal(batch.tensors[0][0]));
  fit.shorter = 0;
  batch.tensors[0] = whole_.unsqueeze(0);
  center_crop({"image"}, 40, 44)->apply(batch);
  EXPECT_TRUE(decode_fitted(jpeg_, {}, fit, 0).equal(batch.tensors[0][0]));
  // Too small: margins.
  fit.height = 101;
  fit.width = 151;
  batch.tensors[0] = whole_.unsqueeze(0);
  center_crop({"image"}, 101, 151)->apply(batch);
  EXPECT_TRUE(decode_fitted(jpeg_, {}, fit, 0).equal(batch.tensors[0][0]));
}

TEST_F(ImageFitTest, ModeLayoutAndPlaceHold) {
  ImageDecodeOptions options;
  options.mode = ImageMode::kGray;
  const ImageFit fit = fit_of(ImageFit::Kind::kResize, 30, 30);
  EXPECT_TRUE(decode_fitted(jpeg_, options, fit, 0).equal(interpolated(decode_image(jpeg_, options), 30, 30)));
  options = {};
  options.layout = ImageLayout::kHWC;
  EXPECT_TRUE(decode_fitted(jpeg_, options, fit, 0).equal(interpolated(whole_, 30, 30).permute({1, 2, 0})));
  const at::Tensor batch = at::full({3, 3, 30, 30}, 7, at::kByte);
  decode_fitted_into(jpeg_, {}, fit, 0, batch[1]);
  EXPECT_TRUE(batch[1].equal(interpolated(whole_, 30, 30)));
  EXPECT_TRUE(batch[0].eq(7).all().item<bool>() && batch[2].eq(7).all().item<bool>());
  EXPECT_ERROR(decode_fitted_into(jpeg_, {}, fit, 0, at::empty({3, 30, 31}, at::kByte)), ErrorCode::kInvalidArgument,
               "[3, 30, 30]", "[3, 30, 31]");
}

TEST_F(ImageFitTest, HalfOfTheSamplesAreMirrored) {
  for (const FileBytes& bytes : {jpeg_, test::encode_jpeg(draw(90, 140, 1)), test::encode_png(draw(90, 140, 3)),
                                 test::encode_png(draw(90, 140, 4), {PNG_COLOR_TYPE_RGB_ALPHA})}) {
    for (const ImageFit::Kind kind : {ImageFit::Kind::kNone, ImageFit::Kind::kResize, ImageFit::Kind::kCenterCrop}) {
      for (const ImageLayout layout : {ImageLayout::kCHW, ImageLayout::kHWC}) {
        ImageDecodeOptions options;
        options.layout = layout;
        ImageFit fit = fit_of(kind, 51, 67);
        const at::Tensor plain = decode_fitted(bytes, options, fit, 0);
        const at::Tensor mirrored = plain.flip(layout == ImageLayout::kHWC ? 1 : 2);
        fit.flip = true;
        int flips = 0;
        for (std::uint64_t sample = 0; sample < 8; ++sample) {
          const at::Tensor fitted = decode_fitted(bytes, options, fit, sample_randomness(1, 0, sample));
          flips += fitted.equal(mirrored);
          EXPECT_TRUE(fitted.equal(mirrored) || fitted.equal(plain));
        }
        EXPECT_GT(flips, 0);
        EXPECT_LT(flips, 8);
      }
    }
  }
}

TEST_F(ImageFitTest, FastScalingComesNear) {
  const FileBytes large = test::encode_jpeg(draw(400, 600, 3), {95});
  ImageFit fit = fit_of(ImageFit::Kind::kResize, 60, 80);
  const at::Tensor exact = decode_fitted(large, {}, fit, 0).to(at::kFloat);
  fit.fast_scaling = true;
  const at::Tensor fast = decode_fitted(large, {}, fit, 0).to(at::kFloat);
  ASSERT_EQ(fast.sizes(), at::IntArrayRef({3, 60, 80}));
  EXPECT_LT(fast.sub(exact).abs().mean().item<double>(), 2);
  ImageFit window = fit_of(ImageFit::Kind::kRandomResizedCrop, 24, 24);
  for (std::uint64_t sample = 0; sample < 20; ++sample) {
    window.fast_scaling = false;
    const at::Tensor slow = decode_fitted(large, {}, window, sample_randomness(1, 0, sample)).to(at::kFloat);
    window.fast_scaling = true;
    const at::Tensor quick = decode_fitted(large, {}, window, sample_randomness(1, 0, sample)).to(at::kFloat);
    EXPECT_LT(quick.sub(slow).abs().mean().item<double>(), 6) << sample;
  }
}

TEST_F(ImageFitTest, OptionsAreChecked) {
  EXPECT_ERROR(decode_fitted(jpeg_, {}, fit_of(ImageFit::Kind::kResize, 0, 5), 0), ErrorCode::kInvalidArgument,
               "0 × 5");
  EXPECT_ERROR(decode_fitted(jpeg_, {}, fit_of(static_cast<ImageFit::Kind>(9), 5, 5), 0), ErrorCode::kInvalidArgument,
               "fit 9");
  ImageDecodeOptions options;
  options.window = ImageWindow{0, 0, 5, 5};
  EXPECT_ERROR(decode_fitted(jpeg_, options, {}, 0), ErrorCode::kInvalidArgument, "window");
  // A strip whose longer side would become huge.
  ImageFit fit = fit_of(ImageFit::Kind::kCenterCrop, 8, 8);
  fit.shorter = 1 << 20;
  EXPECT_ERROR(decode_fitted(jpeg_, {}, fit, 0), ErrorCode::kInvalidArgument, "max_pixels");
}

}  // namespace
}  // namespace tandem::image_fit_test
