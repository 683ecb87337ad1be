#include "tandem/sample_options.h"

#include "base/invalid.h"
#include "data/json_options.h"
#include "tandem/error.h"

namespace tandem {
namespace {

using options::Json;
using options::Object;
using options::parse_json;

class Sequence final : public BatchTransform {
 public:
  explicit Sequence(std::vector<std::unique_ptr<BatchTransform>> steps) : steps_(std::move(steps)) {}
  void apply(Batch& batch) override {
    for (const auto& step : steps_) step->apply(batch);
  }

 private:
  std::vector<std::unique_ptr<BatchTransform>> steps_;
};

ResizeOptions resize_options(Object& object) {
  ResizeOptions options;
  options.height = object.integer("height", 0);
  options.width = object.integer("width", 0);
  options.interpolation = static_cast<Interpolation>(object.choice("interpolation", {"nearest", "bilinear"}, 1));
  options.antialias = object.boolean("antialias", options.antialias);
  return options;
}

RandomWindowOptions window_options(Object& object) {
  RandomWindowOptions options;
  options.scale = object.range("scale", options.scale);
  options.ratio = object.range("ratio", options.ratio);
  return options;
}

std::unique_ptr<BatchTransform> make_step(const std::string& name, Fields fields, Object& object) {
  if (name == "to_float") return to_float(fields, object.number("scale", 1. / 255));
  if (name == "normalize") {
    const std::vector<double> mean = object.numbers("mean"), std = object.numbers("std");
    return normalize(fields, mean, std, object.number("scale", 1));
  }
  if (name == "one_hot") return one_hot(fields, object.integer("classes", 0), object.number("smoothing", 0));
  if (name == "random_crop") {
    RandomCropOptions options;
    options.height = object.integer("height", 0);
    options.width = object.integer("width", 0);
    options.padding = object.integer("padding", 0);
    options.fill = object.number("fill", 0);
    options.stream = object.natural("stream", 0);
    return random_crop(fields, options);
  }
  if (name == "center_crop") {
    const std::int64_t height = object.integer("height", 0);
    return center_crop(fields, height, object.integer("width", 0));
  }
  if (name == "random_horizontal_flip") {
    const double probability = object.number("probability", 0.5);
    return random_horizontal_flip(fields, probability, object.natural("stream", 0));
  }
  if (name == "resize") return resize(fields, resize_options(object));
  if (name == "random_resized_crop") {
    RandomResizedCropOptions options;
    options.resize = resize_options(object);
    options.window = window_options(object);
    options.stream = object.natural("stream", 0);
    return random_resized_crop(fields, options);
  }
  if (name == "color_jitter") {
    ColorJitterOptions options;
    options.brightness = object.range("brightness", options.brightness);
    options.contrast = object.range("contrast", options.contrast);
    options.saturation = object.range("saturation", options.saturation);
    options.hue = object.range("hue", options.hue);
    options.stream = object.natural("stream", 0);
    return color_jitter(fields, options);
  }
  invalid(object.where() + ": there is no step '" + name +
          "', but to_float, normalize, one_hot, random_crop, center_crop, random_horizontal_flip, resize, "
          "random_resized_crop and color_jitter");
}

void read_fit(Object& object, ImageFit& fit) {
  fit.kind =
      static_cast<ImageFit::Kind>(object.choice("kind", {"none", "resize", "center_crop", "random_resized_crop"}, 0));
  fit.height = object.integer("height", fit.height);
  fit.width = object.integer("width", fit.width);
  fit.shorter = object.integer("shorter", fit.shorter);
  fit.window = window_options(object);
  fit.flip = object.boolean("flip", fit.flip);
  fit.stream = object.natural("stream", fit.stream);
  fit.antialias = object.boolean("antialias", fit.antialias);
  fit.fast_scaling = object.boolean("fast_scaling", fit.fast_scaling);
}

// Has `read` read the options of each field of the object under `key`.
template <typename Options, typename Read>
void read_each(Object& object, const char* key, std::map<std::string, Options>& to, const Read& read) {
  const Json* const fields = object.find(key);
  if (!fields) return;
  const std::string where = object.where() + ": " + key;
  const Object checked(*fields, where);
  for (const auto& [name, json] : fields->items()) {
    Object one(json, where + " of field '" + name + "'");
    read(one, to[name]);
    one.finish();
  }
}

}  // namespace

std::unique_ptr<BatchTransform> parse_transforms(std::string_view text) {
  const Json json = parse_json(text, "the list of transforms");
  if (!json.is_array()) invalid("the transforms are no JSON list of steps");
  std::vector<std::unique_ptr<BatchTransform>> steps;
  for (const Json& one : json) {
    Object object(one, "step " + std::to_string(steps.size()) + " of the transforms");
    const Json& name = object.require("step");
    if (!name.is_string()) invalid(object.where() + " has a step that is no text");
    Fields fields = object.strings("fields");
    steps.push_back(make_step(name.get<std::string>(), std::move(fields), object));
    object.finish();
  }
  return std::make_unique<Sequence>(std::move(steps));
}

SampleDecoderOptions parse_decoder_options(std::string_view text) {
  const Json json = parse_json(text, "the options of decoding");
  Object object(json, "the options of decoding");
  SampleDecoderOptions options;
  options.max_pixels = object.integer("max_pixels", options.max_pixels);
  options.strict = object.boolean("strict", options.strict);
  read_each(object, "fits", options.fits, read_fit);
  object.finish();
  return options;
}

CollateOptions parse_collate_options(std::string_view text) {
  const Json json = parse_json(text, "the options of collating");
  Object object(json, "the options of collating");
  CollateOptions options;
  read_each(object, "pad", options.pad, [](Object& pad, PadOptions& to) {
    to.value = pad.number("value", to.value);
    to.multiple_of = pad.integer("multiple_of", to.multiple_of);
    to.max_length = pad.integer("max_length", to.max_length);
  });
  read_each(object, "pack", options.pack, [](Object& pack, PackOptions& to) {
    to.length = pack.integer("length", to.length);
    to.value = pack.number("value", to.value);
    to.split = pack.boolean("split", to.split);
  });
  object.finish();
  return options;
}

}  // namespace tandem
