#include "summary/messages.h"

#include <bit>
#include <protozero/pbf_builder.hpp>

namespace tandem {
namespace {

// Field numbers of tensorflow/core/util/event.proto and tensorflow/core/framework/{summary,tensor,tensor_shape}.proto.
enum class Event : protozero::pbf_tag_type { kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5 };
enum class Summary : protozero::pbf_tag_type { kValue = 1 };
enum class Value : protozero::pbf_tag_type {
  kTag = 1,
  kSimpleValue = 2,
  kImage = 4,
  kHistogram = 5,
  kTensor = 8,
  kMetadata = 9
};
enum class HistogramProto : protozero::pbf_tag_type {
  kMin = 1,
  kMax = 2,
  kNum = 3,
  kSum = 4,
  kSumSquares = 5,
  kBucketLimit = 6,
  kBucket = 7
};
enum class Image : protozero::pbf_tag_type { kHeight = 1, kWidth = 2, kColorspace = 3, kEncoded = 4 };
enum class Metadata : protozero::pbf_tag_type { kPluginData = 1 };
enum class PluginData : protozero::pbf_tag_type { kName = 1 };
enum class Tensor : protozero::pbf_tag_type { kDtype = 1, kShape = 2, kString = 8 };
enum class Shape : protozero::pbf_tag_type { kDimension = 2 };
enum class Dimension : protozero::pbf_tag_type { kSize = 1 };
constexpr int kDtypeString = 7;

// proto3 leaves out what is zero, where it is not what a oneof holds.
template <typename Builder, typename Field>
void add_double(Builder& builder, Field field, double number) {
  if (std::bit_cast<std::uint64_t>(number) != 0) builder.add_double(field, number);
}

template <typename Fill>
std::string summary_of(const std::string& tag, Fill&& fill) {
  std::string bytes;
  protozero::pbf_builder<Summary> summary(bytes);
  protozero::pbf_builder<Value> value(summary, Summary::kValue);
  value.add_string(Value::kTag, tag);
  fill(value);
  return bytes;
}

}  // namespace

std::string scalar_summary(const std::string& tag, float number) {
  return summary_of(tag, [&](auto& value) { value.add_float(Value::kSimpleValue, number); });
}

std::string histogram_summary(const std::string& tag, const Histogram& histogram) {
  return summary_of(tag, [&](auto& value) {
    protozero::pbf_builder<HistogramProto> proto(value, Value::kHistogram);
    add_double(proto, HistogramProto::kMin, histogram.min);
    add_double(proto, HistogramProto::kMax, histogram.max);
    add_double(proto, HistogramProto::kNum, static_cast<double>(histogram.count));
    add_double(proto, HistogramProto::kSum, histogram.sum);
    add_double(proto, HistogramProto::kSumSquares, histogram.sum_squares);
    proto.add_packed_double(HistogramProto::kBucketLimit, histogram.limits.begin(), histogram.limits.end());
    proto.add_packed_double(HistogramProto::kBucket, histogram.counts.begin(), histogram.counts.end());
  });
}

std::string image_summary(const std::string& tag, const EncodedImage& image) {
  return summary_of(tag, [&](auto& value) {
    protozero::pbf_builder<Image> proto(value, Value::kImage);
    proto.add_int32(Image::kHeight, static_cast<std::int32_t>(image.height));
    proto.add_int32(Image::kWidth, static_cast<std::int32_t>(image.width));
    proto.add_int32(Image::kColorspace, image.channels);
    proto.add_bytes(Image::kEncoded, image.png);
  });
}

std::string text_summary(const std::string& tag, const std::string& text) {
  return summary_of(tag, [&](auto& value) {
    {
      protozero::pbf_builder<Tensor> tensor(value, Value::kTensor);
      tensor.add_enum(Tensor::kDtype, kDtypeString);
      {
        protozero::pbf_builder<Shape> shape(tensor, Tensor::kShape);
        protozero::pbf_builder<Dimension>(shape, Shape::kDimension).add_int64(Dimension::kSize, 1);
      }
      tensor.add_bytes(Tensor::kString, text);
    }
    protozero::pbf_builder<Metadata> metadata(value, Value::kMetadata);
    protozero::pbf_builder<PluginData>(metadata, Metadata::kPluginData).add_string(PluginData::kName, "text");
  });
}

std::string version_event(double wall_time) {
  std::string bytes;
  protozero::pbf_builder<Event> event(bytes);
  event.add_double(Event::kWallTime, wall_time);
  event.add_string(Event::kFileVersion, "brain.Event:2");
  return bytes;
}

std::string summary_event(double wall_time, std::int64_t step, const std::string& summary) {
  std::string bytes;
  protozero::pbf_builder<Event> event(bytes);
  event.add_double(Event::kWallTime, wall_time);
  if (step != 0) event.add_int64(Event::kStep, step);
  event.add_message(Event::kSummary, summary);
  return bytes;
}

}  // namespace tandem
