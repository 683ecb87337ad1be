#include "tandem/sample_options.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cpp/data/expect_error.h"
#include "tandem/sample_random.h"

namespace tandem::sample_options_test {
namespace {

Batch images() {
  at::manual_seed(1);
  Batch batch{{"image", "label"}, {at::randint(0, 256, {6, 3, 20, 24}, at::kByte), at::tensor({0, 1, 2, 0, 1, 2})}, {}};
  for (std::uint64_t i = 0; i < 6; ++i) batch.sample_randomness.push_back(sample_randomness(3, 1, i));
  return batch;
}

// What a step of JSON does is what the function of that name does.
void expect_same(const std::string& json, const std::unique_ptr<BatchTransform>& step) {
  Batch a = images(), b = images();
  parse_transforms(json)->apply(a);
  step->apply(b);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(a.tensors[i].scalar_type(), b.tensors[i].scalar_type()) << json;
    EXPECT_TRUE(a.tensors[i].equal(b.tensors[i])) << json;
  }
}

TEST(ParseTransforms, EachStepIsItsFunction) {
  expect_same(R"([{"step": "to_float", "fields": ["image"]}])", to_float({"image"}));
  expect_same(R"([{"step": "to_float", "fields": ["image", "label"], "scale": 2}])", to_float({"image", "label"}, 2));
  expect_same(R"([{"step": "normalize", "fields": ["image"], "mean": [1, 2, 3], "std": [4, 5, 6.5], "scale": 0.5}])",
              normalize({"image"}, {1, 2, 3}, {4, 5, 6.5}, 0.5));
  expect_same(R"([{"step": "one_hot", "fields": ["label"], "classes": 4, "smoothing": 0.1}])",
              one_hot({"label"}, 4, 0.1));
  RandomCropOptions crop{16, 12, 2, 9, 5};
  expect_same(R"([{"step": "random_crop", "fields": ["image"], "height": 16, "width": 12, "padding": 2, "fill": 9,
                  "stream": 5}])",
              random_crop({"image"}, crop));
  expect_same(R"([{"step": "center_crop", "fields": ["image"], "height": 8, "width": 30}])",
              center_crop({"image"}, 8, 30));
  expect_same(R"([{"step": "random_horizontal_flip", "fields": ["image"], "probability": 0.7, "stream": 2}])",
              random_horizontal_flip({"image"}, 0.7, 2));
  expect_same(R"([{"step": "resize", "fields": ["image"], "height": 9, "width": 8}])", resize({"image"}, {9, 8}));
  expect_same(R"([{"step": "resize", "fields": ["image"], "height": 9, "width": 8, "antialias": false}])",
              resize({"image"}, {9, 8, Interpolation::kBilinear, false}));
  expect_same(R"([{"step": "resize", "fields": ["image"], "height": 9, "width": 8, "interpolation": "nearest"}])",
              resize({"image"}, {9, 8, Interpolation::kNearest}));
  RandomResizedCropOptions window{{10, 11}, {{0.2, 0.4}, {1, 2}}, 3};
  expect_same(R"([{"step": "random_resized_crop", "fields": ["image"], "height": 10, "width": 11, "scale": [0.2, 0.4],
                  "ratio": [1, 2], "stream": 3}])",
              random_resized_crop({"image"}, window));
  ColorJitterOptions jitter{{0.5, 1.5}, {0.6, 1.4}, {0.7, 1.3}, {-0.1, 0.2}, 4};
  expect_same(R"([{"step": "color_jitter", "fields": ["image"], "brightness": [0.5, 1.5], "contrast": [0.6, 1.4],
                  "saturation": [0.7, 1.3], "hue": [-0.1, 0.2], "stream": 4}])",
              color_jitter({"image"}, jitter));
}

TEST(ParseTransforms, StepsFollowOneAnother) {
  Batch a = images(), b = images();
  parse_transforms(R"([{"step": "center_crop", "fields": ["image"], "height": 8, "width": 8},
                       {"step": "to_float", "fields": ["image"]}])")
      ->apply(a);
  center_crop({"image"}, 8, 8)->apply(b);
  to_float({"image"})->apply(b);
  EXPECT_TRUE(a.tensors[0].equal(b.tensors[0]));
  Batch untouched = images();
  parse_transforms("[]")->apply(untouched);
  EXPECT_TRUE(untouched.tensors[0].equal(images().tensors[0]));
}

TEST(ParseTransforms, MistakesAreNamed) {
  const auto refuse = [](const char* json, const std::string& part) {
    EXPECT_ERROR(parse_transforms(json), ErrorCode::kInvalidArgument, part);
  };
  refuse("[", "no JSON");
  refuse("{}", "no JSON list");
  refuse("[7]", "step 0 of the transforms is no JSON object");
  refuse(R"([{"fields": ["a"]}])", "has no step");
  refuse(R"([{"step": "to_float"}])", "has no fields");
  refuse(R"([{"step": "to_float", "fields": "a"}])", "fields is \"a\", but has to be a list of texts");
  refuse(R"([{"step": "to_float", "fields": []}])", "needs the names");
  refuse(R"([{"step": "blur", "fields": ["a"]}])", "no step 'blur'");
  refuse(R"([{"step": "to_float", "fields": ["a"], "scales": 1}])", "unknown key 'scales'");
  refuse(R"([{"step": "to_float", "fields": ["a"], "scale": "1"}])", "scale is \"1\", but has to be a number");
  refuse(R"([{"step": "to_float", "fields": ["a"], "scale": 1, "scale": 2}])", "'scale' twice");
  refuse(R"([{"step": "resize", "fields": ["a"], "height": 1.5}])", "height is 1.5, but has to be an integer");
  refuse(R"([{"step": "resize", "fields": ["a"], "height": 4}])", "width is 0");
  refuse(R"([{"step": "resize", "fields": ["a"], "height": 4, "width": 4, "antialias": 1}])", "true or false");
  refuse(R"([{"step": "resize", "fields": ["a"], "height": 4, "width": 4, "interpolation": "cubic"}])",
         "one of nearest, bilinear");
  refuse(R"([{"step": "color_jitter", "fields": ["a"], "hue": 0.1}])", "two numbers");
  refuse(R"([{"step": "random_horizontal_flip", "fields": ["a"], "stream": -1}])", "not negative");
}

TEST(ParseDecoderOptions, GivesTheStruct) {
  const SampleDecoderOptions options = parse_decoder_options(
      R"({"max_pixels": 1000, "strict": true, "fits": {"a": {"kind": "random_resized_crop", "height": 7, "width": 8,
          "scale": [0.1, 0.2], "ratio": [1, 3], "flip": true, "stream": 9, "antialias": false, "fast_scaling": true},
          "b": {"kind": "center_crop", "height": 5, "width": 5, "shorter": 6}}})");
  EXPECT_EQ(options.max_pixels, 1000);
  EXPECT_TRUE(options.strict);
  const ImageFit& a = options.fits.at("a");
  EXPECT_EQ(a.kind, ImageFit::Kind::kRandomResizedCrop);
  EXPECT_EQ(a.height * 10 + a.width, 78);
  EXPECT_EQ(a.window.scale[1], 0.2);
  EXPECT_EQ(a.window.ratio[1], 3);
  EXPECT_TRUE(a.flip && a.fast_scaling && !a.antialias);
  EXPECT_EQ(a.stream, 9);
  EXPECT_EQ(options.fits.at("b").kind, ImageFit::Kind::kCenterCrop);
  EXPECT_EQ(options.fits.at("b").shorter, 6);
  EXPECT_EQ(parse_decoder_options("{}").max_pixels, SampleDecoderOptions().max_pixels);
  EXPECT_ERROR(parse_decoder_options(R"({"fits": {"a": {"size": 5}}})"), ErrorCode::kInvalidArgument,
               "fits of field 'a'", "'size'");
  EXPECT_ERROR(parse_decoder_options(R"({"fits": []})"), ErrorCode::kInvalidArgument, "fits is no JSON object");
  EXPECT_ERROR(parse_decoder_options("[]"), ErrorCode::kInvalidArgument, "no JSON object");
}

TEST(ParseCollateOptions, GivesTheStruct) {
  const CollateOptions options = parse_collate_options(
      R"({"pad": {"a": {"value": -1, "multiple_of": 8, "max_length": 64}}, "pack": {"b": {"length": 32, "split": false}}})");
  EXPECT_EQ(options.pad.at("a").value, -1);
  EXPECT_EQ(options.pad.at("a").multiple_of, 8);
  EXPECT_EQ(options.pad.at("a").max_length, 64);
  EXPECT_EQ(options.pack.at("b").length, 32);
  EXPECT_FALSE(options.pack.at("b").split);
  EXPECT_ERROR(parse_collate_options(R"({"pad": {"a": {"len": 8}}})"), ErrorCode::kInvalidArgument, "pad of field 'a'",
               "'len'");
}

}  // namespace
}  // namespace tandem::sample_options_test
