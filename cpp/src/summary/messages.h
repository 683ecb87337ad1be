// TensorFlow's Event messages, as far as TensorBoard's scalars, histograms, images and texts go.
#pragma once

#include <cstdint>
#include <string>

#include "summary/histogram.h"

namespace tandem {

struct EncodedImage {
  std::int64_t height, width;
  int channels;
  std::string png;
};

// What an Event holds beside its time and step; each gives a serialized Summary.
std::string scalar_summary(const std::string& tag, float value);
std::string histogram_summary(const std::string& tag, const Histogram& histogram);
std::string image_summary(const std::string& tag, const EncodedImage& image);
std::string text_summary(const std::string& tag, const std::string& text);

// Serialized Events.
std::string version_event(double wall_time);  // the first of each file
std::string summary_event(double wall_time, std::int64_t step, const std::string& summary);

}  // namespace tandem
