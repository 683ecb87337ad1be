// Options of samples and batches as JSON: what front ends of other languages hand over, and what a file of settings can
// hold. Names, meanings and defaults are those of the C++ structs and functions; what is left out has its default, and
// keys that are not known are refused. All throw Error(kInvalidArgument) that says where in the text the mistake is.
#pragma once

#include <memory>
#include <string_view>

#include "tandem/batch_builder.h"
#include "tandem/batch_transform.h"
#include "tandem/export.h"
#include "tandem/sample_schema.h"

namespace tandem {

// Steps of batch_transform.h, applied one after another:
//   [{"step": "random_crop", "fields": ["image"], "height": 32, "width": 32, "padding": 4},
//    {"step": "random_horizontal_flip", "fields": ["image"]},
//    {"step": "color_jitter", "fields": ["image"], "brightness": [0.8, 1.2]},
//    {"step": "normalize", "fields": ["image"], "mean": [0.5], "std": [0.25], "scale": 0.00392156862745098}]
// The others are to_float, one_hot (classes, smoothing), center_crop, resize (interpolation: bilinear or nearest;
// antialias) and random_resized_crop (as resize, and scale, ratio).
TANDEM_API std::unique_ptr<BatchTransform> parse_transforms(std::string_view json);

//   {"max_pixels": 100000000, "strict": true,
//    "fits": {"picture": {"kind": "random_resized_crop", "height": 224, "width": 224, "flip": true}}}
// Kinds are none, resize, center_crop (shorter) and random_resized_crop (scale, ratio).
TANDEM_API SampleDecoderOptions parse_decoder_options(std::string_view json);

//   {"pad": {"tokens": {"value": 0, "multiple_of": 8, "max_length": 512}}, "pack": {"text": {"length": 1024}}}
TANDEM_API CollateOptions parse_collate_options(std::string_view json);

}  // namespace tandem
