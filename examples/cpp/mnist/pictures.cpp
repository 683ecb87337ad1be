#include "pictures.h"

#include <gd.h>
#include <gdfontl.h>
#include <gdfonts.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace {

constexpr int kBlack = 0x202020, kGrey = 0xd8d8d8, kRed = 0xc62828, kBlue = 0x1f4e9c, kPaleBlue = 0xb8c7e0,
              kGreen = 0x2e7d32;

using Image = std::unique_ptr<gdImage, decltype(&gdImageDestroy)>;

Image blank(int width, int height) {
  Image image(gdImageCreateTrueColor(width, height), gdImageDestroy);
  if (!image) throw std::runtime_error("no memory for a picture");
  gdImageFilledRectangle(image.get(), 0, 0, width, height, 0xffffff);
  return image;
}

void write(gdImage* image, int x, int y, const std::string& text, int color, gdFontPtr font = gdFontGetSmall()) {
  gdImageString(image, font, x, y, reinterpret_cast<unsigned char*>(const_cast<char*>(text.c_str())), color);
}

void save(gdImage* image, const std::string& path) {
  const std::unique_ptr<FILE, decltype(&std::fclose)> file(std::fopen(path.c_str(), "wb"), std::fclose);
  if (!file) throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
  gdImagePng(image, file.get());
  if (std::fflush(file.get()) != 0) throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
}

// A pair of axes in a rectangle of a picture, and lines in its coordinates.
class Panel {
 public:
  Panel(gdImage* image, int top, const std::string& title, double x_max, double y_min, double y_max)
      : image_(image), top_(top), x_max_(x_max), y_min_(y_min), y_max_(y_max) {
    write(image, kLeft, top - 22, title, kBlack, gdFontGetLarge());
    for (int i = 0; i <= kTicks; ++i) {
      const double value = y_min + (y_max - y_min) * i / kTicks;
      char text[32];
      std::snprintf(text, sizeof text, "%7.2f", value);
      gdImageLine(image, kLeft, y(value), kLeft + kWidth, y(value), kGrey);
      write(image, kLeft - 50, y(value) - 6, text, kBlack);
      const double step = x_max * i / kTicks;
      write(image, x(step) - 10, top + kHeight + 4, std::to_string(std::lround(step)), kBlack);
    }
    gdImageRectangle(image, kLeft, top, kLeft + kWidth, top + kHeight, kBlack);
    write(image, kLeft + kWidth / 2 - 12, top + kHeight + 18, "step", kBlack);
  }

  void line(const std::vector<std::pair<double, double>>& points, int color, int thickness, bool dots) {
    gdImageSetThickness(image_, thickness);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto [px, py] = points[i];
      if (i > 0) gdImageLine(image_, x(points[i - 1].first), y(points[i - 1].second), x(px), y(py), color);
      if (dots) gdImageFilledEllipse(image_, x(px), y(py), 8, 8, color);
    }
    gdImageSetThickness(image_, 1);
  }

  static constexpr int kLeft = 70, kWidth = 620, kHeight = 220;

 private:
  static constexpr int kTicks = 5;
  int x(double value) const { return kLeft + static_cast<int>(std::lround(value / x_max_ * kWidth)); }
  int y(double value) const {
    const double share = std::clamp((value - y_min_) / (y_max_ - y_min_), 0., 1.);
    return top_ + kHeight - static_cast<int>(std::lround(share * kHeight));
  }

  gdImage* image_;
  int top_;
  double x_max_, y_min_, y_max_;
};

}  // namespace

void draw_curve(const std::string& path, const Curve& curve) {
  const Image image = blank(720, 620);
  const auto steps = static_cast<double>(std::max<std::size_t>(curve.losses.size(), 1));

  std::vector<std::pair<double, double>> losses, smooth;
  double highest = 0.1, mean = 0;
  for (std::size_t i = 0; i < curve.losses.size(); ++i) {
    const double loss = curve.losses[i];
    const auto step = static_cast<double>(i + 1);
    mean += std::max(1 / step, 0.05) * (loss - mean);  // of about the last twenty
    losses.emplace_back(step, loss);
    smooth.emplace_back(step, mean);
    highest = std::max(highest, loss);
  }
  Panel loss_panel(image.get(), 40, "Training loss (cross-entropy)", steps, 0, highest);
  loss_panel.line(losses, kPaleBlue, 1, false);
  loss_panel.line(smooth, kBlue, 2, false);

  std::vector<std::pair<double, double>> accuracies;
  double lowest = 100;
  for (const auto& [step, accuracy] : curve.accuracies) {
    accuracies.emplace_back(static_cast<double>(step), accuracy);
    lowest = std::min(lowest, accuracy);
  }
  Panel accuracy_panel(image.get(), 340, "Test accuracy (%)", steps, std::floor(std::min(lowest, 99.) - 1), 100);
  accuracy_panel.line(accuracies, kGreen, 2, true);
  save(image.get(), path);
}

void draw_digits(const std::string& path, std::span<const float> images, std::span<const std::int64_t> predicted,
                 std::span<const std::int64_t> labels) {
  constexpr int kSide = 28, kScale = 3, kColumns = 10, kRows = 5, kWidth = kSide * kScale + 6,
                kHeight = kSide * kScale + 20;
  const Image image = blank(kColumns * kWidth, kRows * kHeight);
  for (std::size_t n = 0; n < std::min<std::size_t>(labels.size(), kColumns * kRows); ++n) {
    const int left = static_cast<int>(n) % kColumns * kWidth + 3;
    const int top = static_cast<int>(n) / kColumns * kHeight + 3;
    const auto pixels = images.subspan(n * kSide * kSide, kSide * kSide);
    const auto [low, high] = std::minmax_element(pixels.begin(), pixels.end());
    for (int i = 0; i < kSide * kSide; ++i) {
      const float ink = (pixels[static_cast<std::size_t>(i)] - *low) / std::max(*high - *low, 1e-6f);
      const int level = 255 - static_cast<int>(std::lround(255 * ink));
      const int x = left + i % kSide * kScale;
      const int y = top + i / kSide * kScale;
      gdImageFilledRectangle(image.get(), x, y, x + kScale - 1, y + kScale - 1, level << 16 | level << 8 | level);
    }
    const bool right = predicted[n] == labels[n];
    const std::string text = std::to_string(predicted[n]) + (right ? "" : " (is " + std::to_string(labels[n]) + ")");
    write(image.get(), left + 4, top + kSide * kScale + 1, text, right ? kBlack : kRed, gdFontGetLarge());
  }
  save(image.get(), path);
}
