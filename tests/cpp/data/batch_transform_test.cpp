#include "tandem/batch_transform.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "cpp/data/expect_error.h"
#include "tandem/sample_random.h"

namespace tandem::batch_transform_test {
namespace {

std::vector<std::uint64_t> randomness_of(std::int64_t n, std::uint64_t seed = 1, std::uint64_t epoch = 0) {
  std::vector<std::uint64_t> numbers;
  for (std::int64_t i = 0; i < n; ++i) numbers.push_back(sample_randomness(seed, epoch, static_cast<std::uint64_t>(i)));
  return numbers;
}

Batch batch_of(const at::Tensor& images) {
  return {{"image"}, {images}, randomness_of(images.size(0))};
}

at::Tensor applied(const std::unique_ptr<BatchTransform>& step, Batch batch) {
  const at::Tensor before = batch.tensors[0], copy = before.clone();
  step->apply(batch);
  EXPECT_TRUE(before.equal(copy)) << "the step wrote into its input";
  return batch.tensors[0];
}

at::Tensor applied(const std::unique_ptr<BatchTransform>& step, const at::Tensor& images) {
  return applied(step, batch_of(images));
}

at::Tensor byte_images(std::int64_t n, std::int64_t channels, std::int64_t height, std::int64_t width) {
  at::manual_seed(3);
  return at::randint(0, 256, {n, channels, height, width}, at::kByte);
}

TEST(SampleRandom, NumbersNeverChange) {
  SampleRandom random(0xd0734750fde362b3u, "flip");
  EXPECT_EQ(random.next(), 0x9d096672cc5987ceu);
  EXPECT_EQ(random.next(), 0x9e5479860ea89c12u);
}

TEST(SampleRandom, EveryInputCounts) {
  std::set<std::uint64_t> seen;
  for (const std::uint64_t a : {0, 1, 2}) {
    for (const std::uint64_t b : {0, 1, 2}) {
      for (const std::uint64_t c : {0, 1, 2}) {
        for (const char* purpose : {"flip", "crop"}) {
          for (const std::uint64_t stream : {0, 1}) {
            seen.insert(SampleRandom(sample_randomness(a, b, c), purpose, stream).next());
          }
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), 27 * 4);
}

TEST(SampleRandom, NumbersFillTheirRangesEvenly) {
  constexpr int kDraws = 40000;
  std::array<int, 5> counts{};
  double sum = 0;
  for (std::uint64_t sample = 0; sample < kDraws; ++sample) {
    SampleRandom random(sample_randomness(9, 0, sample), "crop");
    ++counts.at(static_cast<std::size_t>(random.integer(-2, 2) + 2));
    const double x = random.uniform(2, 4);
    ASSERT_TRUE(x >= 2 && x < 4);
    sum += x;
  }
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 5, 400);  // five standard deviations
  EXPECT_NEAR(sum / kDraws, 3, 0.015);
}

TEST(BatchTransform, ToFloatScales) {
  const at::Tensor images = byte_images(2, 3, 5, 7);
  const at::Tensor result = applied(to_float({"image"}), images);
  EXPECT_EQ(result.scalar_type(), at::kFloat);
  EXPECT_TRUE(result.allclose(images.to(at::kFloat) / 255, 1e-6, 1e-6));
  EXPECT_TRUE(
      applied(to_float({"image"}, 2), at::tensor({-3, 4}, at::kShort)).equal(at::tensor({-6., 8.}, at::kFloat)));
}

TEST(BatchTransform, NormalizeIsPerChannel) {
  const at::Tensor images = byte_images(4, 3, 5, 7);
  const std::vector<double> mean{0.485, 0.456, 0.406}, std{0.229, 0.224, 0.225};
  const auto view = [](const std::vector<double>& values) {
    return at::tensor(values, at::kDouble).view({1, 3, 1, 1});
  };
  const at::Tensor expected = (images.to(at::kDouble) / 255 - view(mean)) / view(std);
  for (const at::ScalarType dtype : {at::kByte, at::kFloat, at::kDouble, at::kHalf, at::kInt}) {
    const at::Tensor result = applied(normalize({"image"}, mean, std, 1. / 255), images.to(dtype));
    EXPECT_EQ(result.scalar_type(), dtype == at::kDouble ? at::kDouble : at::kFloat) << dtype;
    EXPECT_TRUE(result.to(at::kDouble).allclose(expected, 1e-5, 1e-5)) << dtype;
  }
  // Any strides.
  const at::Tensor turned = images.transpose(2, 3);
  EXPECT_TRUE(applied(normalize({"image"}, mean, std, 1. / 255), turned)
                  .to(at::kDouble)
                  .allclose(expected.transpose(2, 3), 1e-5, 1e-5));
  // One mean for all, of tensors without channels.
  const at::Tensor numbers = at::tensor({1.f, 2.f, 6.f});
  EXPECT_TRUE(applied(normalize({"image"}, {3}, {2}), numbers).allclose(at::tensor({-1.f, -0.5f, 1.5f})));
  EXPECT_EQ(applied(normalize({"image"}, mean, std), at::empty({0, 3, 4, 4}, at::kByte)).sizes(),
            at::IntArrayRef({0, 3, 4, 4}));
}

TEST(BatchTransform, OneHotIsLibTorchsAndSmooths) {
  const at::Tensor labels = at::tensor({2, 0, 3, 3}, at::kLong);
  Batch batch{{"image"}, {labels}, {}};
  EXPECT_TRUE(applied(one_hot({"image"}, 4), batch).equal(at::one_hot(labels, 4).to(at::kFloat)));
  const at::Tensor smooth = applied(one_hot({"image"}, 4, 0.2), batch);
  EXPECT_TRUE(smooth.allclose(at::one_hot(labels, 4).to(at::kFloat) * 0.8 + 0.05));
  batch.tensors[0] = labels.to(at::kByte).view({2, 2});
  EXPECT_TRUE(applied(one_hot({"image"}, 4), batch).equal(at::one_hot(labels.view({2, 2}), 4).to(at::kFloat)));
  batch.tensors[0] = at::tensor({0, 1, 5, 1}, at::kInt).view({2, 2});
  EXPECT_ERROR(one_hot({"image"}, 4)->apply(batch), ErrorCode::kOutOfRange, "one_hot of field 'image'", "label 5",
               "sample 1", "4 classes");
}

// The windows in which `result`'s pictures lie in those of `images`, found by comparing.
std::vector<std::pair<std::int64_t, std::int64_t>> windows(const at::Tensor& images, const at::Tensor& result) {
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  for (std::int64_t i = 0; i < images.size(0); ++i) {
    for (std::int64_t top = 0; top + result.size(2) <= images.size(2); ++top) {
      for (std::int64_t left = 0; left + result.size(3) <= images.size(3); ++left) {
        const at::Tensor part = images[i].slice(1, top, top + result.size(2)).slice(2, left, left + result.size(3));
        if (part.equal(result[i])) found.emplace_back(top, left);
      }
    }
  }
  return found;
}

TEST(BatchTransform, RandomCropTakesWindowsOfThePaddedPicture) {
  const at::Tensor images = byte_images(64, 3, 8, 10);
  RandomCropOptions options{8, 8, 2};
  options.fill = 9;
  const at::Tensor result = applied(random_crop({"image"}, options), images);
  ASSERT_EQ(result.sizes(), at::IntArrayRef({64, 3, 8, 8}));
  const auto places = windows(at::constant_pad_nd(images, {2, 2, 2, 2}, 9), result);
  ASSERT_EQ(places.size(), 64);
  std::set<std::int64_t> tops, lefts;
  for (const auto& [top, left] : places) {
    tops.insert(top);
    lefts.insert(left);
  }
  EXPECT_EQ(tops, (std::set<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(lefts, (std::set<std::int64_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_ERROR(applied(random_crop({"image"}, {9, 9}), images), ErrorCode::kInvalidArgument,
               "random_crop of field 'image'", "[64, 3, 8, 10]");
}

TEST(BatchTransform, CenterCropIsTorchvisions) {
  const at::Tensor images = at::arange(30, at::kByte).view({1, 1, 5, 6});
  // Recorded from torchvision.transforms.v2.functional.center_crop.
  EXPECT_TRUE(applied(center_crop({"image"}, 3, 9), images)
                  .flatten()
                  .equal(at::tensor(
                      {0, 6, 7, 8, 9, 10, 11, 0, 0, 0, 12, 13, 14, 15, 16, 17, 0, 0, 0, 18, 19, 20, 21, 22, 23, 0, 0},
                      at::kByte)));
  EXPECT_TRUE(applied(center_crop({"image"}, 3, 2), images).equal(images.slice(2, 1, 4).slice(3, 2, 4)));
}

TEST(BatchTransform, FlipMirrorsAboutHalf) {
  const at::Tensor images = byte_images(200, 1, 4, 5);
  const at::Tensor result = applied(random_horizontal_flip({"image"}), images);
  int flipped = 0;
  for (std::int64_t i = 0; i < 200; ++i) {
    if (!result[i].equal(images[i])) {
      EXPECT_TRUE(result[i].equal(images[i].flip(2))) << i;
      ++flipped;
    }
  }
  EXPECT_NEAR(flipped, 100, 35);
  EXPECT_TRUE(applied(random_horizontal_flip({"image"}, 1), images).equal(images.flip(3)));
  EXPECT_TRUE(applied(random_horizontal_flip({"image"}, 0), images).equal(images));
}

TEST(BatchTransform, ResizeIsLibTorchs) {
  const at::Tensor images = byte_images(2, 3, 20, 31);
  const at::Tensor floats = images.to(at::kFloat);
  EXPECT_TRUE(applied(resize({"image"}, {9, 12}), floats).equal(at::_upsample_bilinear2d_aa(floats, {9, 12}, false)));
  const at::Tensor bytes = applied(resize({"image"}, {9, 12}), images);
  EXPECT_EQ(bytes.scalar_type(), at::kByte);
  EXPECT_LE(bytes.to(at::kFloat).sub(at::_upsample_bilinear2d_aa(floats, {9, 12}, false)).abs().max().item<double>(),
            1);
  EXPECT_TRUE(applied(resize({"image"}, {40, 40, Interpolation::kBilinear, false}), floats)
                  .equal(at::upsample_bilinear2d(floats, {40, 40}, false)));
  EXPECT_TRUE(applied(resize({"image"}, {7, 50, Interpolation::kNearest}), images)
                  .equal(at::upsample_nearest2d(images, {7, 50})));
  EXPECT_TRUE(applied(resize({"image"}, {20, 31}), images).equal(images));
  // Recorded from torchvision.transforms.v2.functional.resize(…, antialias=True).
  const at::Tensor ramp = at::arange(77, at::kByte).mul(3).view({1, 1, 7, 11});
  EXPECT_LE(
      applied(resize({"image"}, {4, 5}), ramp)
          .flatten()
          .to(at::kInt)
          .sub(at::tensor({19, 25, 32, 39, 45, 71, 77, 84, 91, 97, 131, 137, 144, 151, 157, 183, 189, 196, 203, 209}))
          .abs()
          .max()
          .item<int>(),
      1);
}

TEST(BatchTransform, RandomResizedCropResizesRandomWindows) {
  const at::Tensor images = byte_images(20, 3, 30, 40);
  RandomResizedCropOptions options;
  options.resize = {16, 12};
  const at::Tensor result = applied(random_resized_crop({"image"}, options), images);
  const auto randomness = randomness_of(20);
  std::set<std::int64_t> heights;
  for (std::int64_t i = 0; i < 20; ++i) {
    const ImageWindow w = random_window(30, 40, {}, randomness[static_cast<std::size_t>(i)]);
    heights.insert(w.height);
    const at::Tensor part =
        images.slice(0, i, i + 1).slice(2, w.top, w.top + w.height).slice(3, w.left, w.left + w.width).contiguous();
    EXPECT_TRUE(result[i].equal(at::_upsample_bilinear2d_aa(part, {16, 12}, false)[0])) << i;
  }
  EXPECT_GT(heights.size(), 5);
}

TEST(RandomWindow, LiesInThePictureAndKeepsItsRanges) {
  const RandomWindowOptions options{{0.1, 0.5}, {0.5, 2}};
  double area = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const ImageWindow w = random_window(200, 300, options, sample_randomness(4, 0, i));
    ASSERT_TRUE(w.top >= 0 && w.left >= 0 && w.top + w.height <= 200 && w.left + w.width <= 300);
    const double part = static_cast<double>(w.height * w.width) / 60000,
                 ratio = static_cast<double>(w.width) / w.height;
    ASSERT_TRUE(part > 0.095 && part < 0.505 && ratio > 0.48 && ratio < 2.1) << w.height << " " << w.width;
    area += part;
  }
  EXPECT_NEAR(area / 2000, 0.3, 0.02);
  // A picture in which none fits: the largest of an allowed ratio, in the middle.
  const ImageWindow strip = random_window(10, 1000, {}, 5);
  EXPECT_EQ(strip.height, 10);
  EXPECT_EQ(strip.width, 13);
  EXPECT_EQ(strip.left, 493);
  const ImageWindow column = random_window(1000, 9, {}, 5);
  EXPECT_EQ(column.width, 9);
  EXPECT_EQ(column.height, 12);
  EXPECT_ERROR(random_window(10, 10, {{0.5, 0.1}, {1, 1}}, 0), ErrorCode::kInvalidArgument, "scale");
}

// 3 × 2 × 3, and what torchvision 0.26 makes of it (transforms.v2.functional.adjust_*).
const at::Tensor kColors =
    at::tensor({250, 10, 30, 0, 128, 77, 20, 200, 30, 0, 129, 5, 3, 40, 30, 255, 127, 99}, at::kByte).view({3, 2, 3});

void expect_values(const at::Tensor& image, const std::vector<int>& values) {
  EXPECT_EQ(image.sizes(), at::IntArrayRef({static_cast<std::int64_t>(values.size()) / 6, 2, 3}));
  EXPECT_EQ(image.scalar_type(), at::kByte);
  EXPECT_TRUE(image.flatten().to(at::kInt).equal(at::tensor(values, at::kInt))) << image.flatten();
}

TEST(ColorJitter, FormulasGiveTorchvisionsBytes) {
  expect_values(adjust_brightness(kColors, 0.5),
                {125, 5, 15, 0, 64, 38, 10, 100, 15, 0, 64, 2, 1, 20, 15, 127, 63, 49});
  expect_values(adjust_brightness(kColors, 1.7),
                {255, 17, 51, 0, 217, 130, 34, 255, 51, 0, 219, 8, 5, 68, 51, 255, 215, 168});
  expect_values(adjust_contrast(kColors, 0.5),
                {161, 41, 51, 36, 100, 74, 46, 136, 51, 36, 100, 38, 37, 56, 51, 163, 99, 85});
  expect_values(adjust_contrast(kColors, 1.7), {255, 0, 0, 0, 167, 80, 0, 255, 0, 0, 168, 0, 0, 17, 0, 255, 165, 117});
  expect_values(adjust_contrast(kColors.slice(0, 0, 1), 1.7), {255, 0, 0, 0, 159, 73});
  expect_values(adjust_saturation(kColors, 0),
                {86, 124, 29, 29, 128, 37, 86, 124, 29, 29, 128, 37, 86, 124, 29, 29, 128, 37});
  expect_values(adjust_saturation(kColors, 1.6),
                {255, 0, 30, 0, 128, 101, 0, 245, 30, 0, 129, 0, 0, 0, 30, 255, 126, 136});
  expect_values(adjust_hue(kColors, -0.4),
                {3, 200, 30, 102, 129, 5, 85, 10, 30, 255, 127, 99, 250, 56, 30, 0, 129, 39});
  expect_values(adjust_hue(kColors, 0.1),
                {250, 10, 30, 153, 127, 99, 168, 200, 30, 0, 129, 5, 3, 154, 30, 255, 127, 64});
  expect_values(adjust_hue(kColors, 0.5),
                {3, 200, 30, 255, 128, 27, 233, 10, 30, 255, 127, 99, 250, 170, 30, 0, 129, 5});
}

TEST(ColorJitter, FormulasGiveTorchvisionsFloats) {
  const at::Tensor x = kColors.to(at::kFloat) / 255;
  const auto expect = [](const at::Tensor& image, const std::vector<float>& values) {
    EXPECT_TRUE(image.flatten().allclose(at::tensor(values), 1e-5, 1e-6)) << image.flatten();
  };
  expect(adjust_contrast(x, 1.7),
         {1.0, 0.0, 0.00028521163f, 0.0, 0.65361863f, 0.31361857f, 0.0, 1.0, 0.00028521163f, 0.0, 0.66028529f, 0.0, 0.0,
          0.06695187f, 0.00028521163f, 1.0, 0.64695197f, 0.46028528f});
  expect(adjust_saturation(x, 1.6),
         {1.0, 0.0, 0.11765412f, 0.0, 0.50087798f, 0.39552245f, 0.0, 0.96090442f, 0.11765412f, 0.0, 0.5071525f, 0.0,
          0.0, 0.0, 0.11765412f, 1.0, 0.49460346f, 0.53356171f});
  expect(adjust_hue(x, 0.1), {0.98039222f, 0.0392157f, 0.11764707f, 0.60000038f, 0.49803925f, 0.38823533f, 0.65960819f,
                              0.7843138f, 0.11764707f, 0.0, 0.50588238f, 0.01960784f, 0.01176473f, 0.60392177f,
                              0.11764707f, 1.0, 0.49882355f, 0.25333309f});
}

TEST(ColorJitter, DrawsFactorsFromItsRanges) {
  const at::Tensor images = at::full({300, 3, 2, 2}, 100, at::kByte);
  ColorJitterOptions options;
  options.brightness = {0.5, 1.5};
  const at::Tensor result = applied(color_jitter({"image"}, options), images).select(1, 0).select(1, 0).select(1, 0);
  EXPECT_GE(result.min().item<int>(), 50);
  EXPECT_LE(result.min().item<int>(), 55);
  EXPECT_LE(result.max().item<int>(), 150);
  EXPECT_GE(result.max().item<int>(), 145);
  EXPECT_NEAR(result.to(at::kFloat).mean().item<double>(), 99.5, 9);
  EXPECT_TRUE(applied(color_jitter({"image"}, {}), images).equal(images));
}

TEST(ColorJitter, OrderIsRandomToo) {
  // Brightness then contrast is another picture than contrast then brightness.
  const at::Tensor images = kColors.expand({100, 3, 2, 3});
  ColorJitterOptions options;
  options.brightness = {1.6, 1.6};
  options.contrast = {0.4, 0.4};
  const at::Tensor result = applied(color_jitter({"image"}, options), images);
  const at::Tensor a = adjust_contrast(adjust_brightness(kColors, 1.6), 0.4);
  const at::Tensor b = adjust_brightness(adjust_contrast(kColors, 0.4), 1.6);
  int first = 0, second = 0;
  for (std::int64_t i = 0; i < 100; ++i) {
    first += result[i].equal(a);
    second += result[i].equal(b);
  }
  EXPECT_EQ(first + second, 100);
  EXPECT_NEAR(first, 50, 25);
}

std::vector<std::unique_ptr<BatchTransform>> random_steps(std::uint64_t stream) {
  std::vector<std::unique_ptr<BatchTransform>> steps;
  RandomCropOptions crop{12, 12, 4};
  crop.stream = stream;
  steps.push_back(random_crop({"image"}, crop));
  steps.push_back(random_horizontal_flip({"image"}, 0.5, stream));
  RandomResizedCropOptions resized;
  resized.resize = {8, 8};
  resized.stream = stream;
  steps.push_back(random_resized_crop({"image"}, resized));
  steps.push_back(color_jitter({"image"}, {{0.5, 1.5}, {0.5, 1.5}, {0.5, 1.5}, {-0.2, 0.2}, stream}));
  return steps;
}

TEST(BatchTransform, ASampleBecomesTheSameInAnyBatch) {
  const at::Tensor images = byte_images(12, 3, 12, 12);
  const auto augmented = [&](const std::vector<std::int64_t>& samples, std::uint64_t seed, std::uint64_t epoch,
                             std::uint64_t stream) {
    Batch batch{{"image"}, {images.index_select(0, at::tensor(samples, at::kLong))}, {}};
    for (const std::int64_t sample : samples) {
      batch.sample_randomness.push_back(sample_randomness(seed, epoch, static_cast<std::uint64_t>(sample)));
    }
    for (const auto& step : random_steps(stream)) step->apply(batch);
    return batch.tensors[0];
  };
  const at::Tensor all = augmented({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 7, 2, 0);
  EXPECT_TRUE(augmented({7}, 7, 2, 0)[0].equal(all[7]));
  EXPECT_TRUE(augmented({11, 7, 0}, 7, 2, 0).equal(all.index_select(0, at::tensor({11, 7, 0}, at::kLong))));
  EXPECT_FALSE(augmented({7}, 8, 2, 0)[0].equal(all[7]));
  EXPECT_FALSE(augmented({7}, 7, 3, 0)[0].equal(all[7]));
  EXPECT_FALSE(augmented({7}, 7, 2, 1)[0].equal(all[7]));
}

TEST(BatchTransform, FieldsOfOneStepAreCutAlike) {
  const at::Tensor images = byte_images(16, 3, 12, 12);
  Batch batch{{"image", "mask"}, {images, images.slice(1, 0, 1)}, randomness_of(16)};
  random_crop({"image", "mask"}, {6, 6})->apply(batch);
  random_horizontal_flip({"image", "mask"})->apply(batch);
  EXPECT_TRUE(batch.tensors[0].slice(1, 0, 1).equal(batch.tensors[1]));
}

TEST(BatchTransform, ErrorsNameStepAndField) {
  const at::Tensor images = byte_images(2, 3, 4, 4);
  EXPECT_ERROR(applied(resize({"picture"}, {2, 2}), images), ErrorCode::kNotFound, "'picture'", "'image'");
  EXPECT_ERROR(applied(resize({"image"}, {2, 2}), images[0]), ErrorCode::kInvalidArgument, "resize of field 'image'",
               "[3, 4, 4]");
  EXPECT_ERROR(applied(resize({"image"}, {2, 2}), images.to(at::kLong)), ErrorCode::kInvalidArgument, "Long");
  EXPECT_ERROR(applied(random_horizontal_flip({"image"}), Batch{{"image"}, {images}, {1}}), ErrorCode::kInvalidArgument,
               "2 images", "1 numbers");
  EXPECT_ERROR(applied(normalize({"image"}, {1, 2}, {1, 1}), images), ErrorCode::kInvalidArgument, "2 channels");
  EXPECT_ERROR(applied(color_jitter({"image"}, {}), images.slice(1, 0, 2)), ErrorCode::kInvalidArgument, "3 channels");
  EXPECT_ERROR(resize({}, {2, 2}), ErrorCode::kInvalidArgument, "resize needs the names");
  EXPECT_ERROR(resize({"image"}, {0, 2}), ErrorCode::kInvalidArgument, "height is 0");
  EXPECT_ERROR(normalize({"image"}, {0}, {0}), ErrorCode::kInvalidArgument, "std must be positive");
  EXPECT_ERROR(color_jitter({"image"}, {{1, 1}, {1, 1}, {1, 1}, {-0.6, 0}}), ErrorCode::kInvalidArgument, "hue");
  EXPECT_ERROR(adjust_hue(images, 0.7), ErrorCode::kInvalidArgument, "hue");
  EXPECT_ERROR(random_horizontal_flip({"image"}, 1.5), ErrorCode::kInvalidArgument, "probability");
  EXPECT_ERROR(one_hot({"image"}, 0), ErrorCode::kInvalidArgument, "classes");
  EXPECT_ERROR(random_crop({"image"}, {4, 4, -1}), ErrorCode::kInvalidArgument, "padding");
}

}  // namespace
}  // namespace tandem::batch_transform_test
