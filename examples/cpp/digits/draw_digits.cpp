#include "draw_digits.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "digit_shapes.h"


namespace digits {
namespace {

// SplitMix64. The standard library's distributions differ between implementations, and digits should not.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t series, std::uint64_t index) : state_(seed) {
    state_ = next() ^ (series * 0xd1342543de82ef95u);
    state_ = next() ^ index;
    next();
  }
  std::uint64_t next() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  double normal() { return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

 private:
  std::uint64_t state_;
};

// A smooth random displacement of the plane: two waves a direction.
class Bend {
 public:
  Bend(Random& random, double strength) {
    for (Wave& wave : waves_) {
      wave = {random.normal() * strength, random.uniform(-1.2, 1.2), random.uniform(-1.2, 1.2), random.uniform()};
    }
  }
  Point operator()(Point p) const {
    return {p.x + waves_[0].at(p) + waves_[1].at(p), p.y + waves_[2].at(p) + waves_[3].at(p)};
  }

 private:
  struct Wave {
    double height, x, y, phase;
    double at(Point p) const { return height * std::sin(2 * std::numbers::pi * (x * p.x + y * p.y + phase)); }
  };
  Wave waves_[4];
};

class Canvas {
 public:
  // Ink of `darkness` where the pen of `width` pixels passes; points in pixels. Edges are soft.
  void draw(const Stroke& stroke, double width, double darkness) {
    for (std::size_t i = 0; i + 1 < stroke.size(); ++i) draw_segment(stroke[i], stroke[i + 1], width / 2, darkness);
  }
  double& at(int x, int y) { return ink_[static_cast<std::size_t>(y * kSide + x)]; }
  const std::array<double, kSide * kSide>& ink() const { return ink_; }

 private:
  void draw_segment(Point a, Point b, double radius, double darkness) {
    const double reach = radius + 1;
    const int left = std::max(0, static_cast<int>(std::floor(std::min(a.x, b.x) - reach)));
    const int right = std::min(kSide - 1, static_cast<int>(std::ceil(std::max(a.x, b.x) + reach)));
    const int top = std::max(0, static_cast<int>(std::floor(std::min(a.y, b.y) - reach)));
    const int bottom = std::min(kSide - 1, static_cast<int>(std::ceil(std::max(a.y, b.y) + reach)));
    const Point along{b.x - a.x, b.y - a.y};
    const double length = along.x * along.x + along.y * along.y;
    for (int y = top; y <= bottom; ++y) {
      for (int x = left; x <= right; ++x) {
        const Point from_a{x + .5 - a.x, y + .5 - a.y};
        const double t = length > 0 ? std::clamp((from_a.x * along.x + from_a.y * along.y) / length, 0., 1.) : 0;
        const double distance = std::hypot(from_a.x - t * along.x, from_a.y - t * along.y);
        at(x, y) = std::max(at(x, y), darkness * std::clamp(radius + .5 - distance, 0., 1.));
      }
    }
  }

  std::array<double, kSide * kSide> ink_{};
};

void draw_shape(Canvas& canvas, Random& random, int digit) {
  const double turn = random.normal() * 0.14;
  const double shear = random.normal() * 0.16;
  const double width = kSide * random.uniform(0.5, 0.86);
  const double height = kSide * random.uniform(0.6, 0.86);
  const Point center{kSide / 2. + random.normal() * 1.1, kSide / 2. + random.normal() * 1.1};
  const double pen = random.uniform(1.5, 3.2);
  const double darkness = random.uniform(0.65, 1);
  const Bend bend(random, 0.035);
  for (Stroke stroke : digit_shape(digit, random.uniform())) {
    const Point shift{random.normal() * 0.018, random.normal() * 0.018};  // strokes do not meet exactly
    for (Point& p : stroke) {
      p = bend({p.x + shift.x, p.y + shift.y});
      const double x = (p.x - .5 - shear * (p.y - .5)) * width;
      const double y = (p.y - .5) * height;
      p = {center.x + x * std::cos(turn) - y * std::sin(turn) + random.normal() * 0.12,
           center.y + x * std::sin(turn) + y * std::cos(turn) + random.normal() * 0.12};
    }
    canvas.draw(stroke, pen, darkness);
  }
}

// Short strokes that belong to nothing, mostly near the border.
void draw_distractors(Canvas& canvas, Random& random) {
  const int count = static_cast<int>(random.uniform() * 3);
  for (int i = 0; i < count; ++i) {
    const double angle = random.uniform(0, 2 * std::numbers::pi);
    const Point at{kSide * (.5 + .46 * std::cos(angle)), kSide * (.5 + .46 * std::sin(angle))};
    const double direction = random.uniform(0, 2 * std::numbers::pi);
    const double length = random.uniform(2, 7);
    canvas.draw({at, {at.x + length * std::cos(direction), at.y + length * std::sin(direction)}},
                random.uniform(0.8, 2), random.uniform(0.3, 0.9));
  }
}

void append_big_endian(std::vector<std::uint8_t>& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(value >> shift));
}

// The file appears under its name when it is whole.
void write_gzip(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  const std::string partial = path + ".partial";
  gzFile file = gzopen(partial.c_str(), "wb6");
  bool good = file && gzfwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (file) good = gzclose(file) == Z_OK && good;
  std::error_code error;
  if (good) std::filesystem::rename(partial, path, error);
  if (good && !error) return;
  const std::string why = error ? error.message() : std::strerror(errno);
  std::filesystem::remove(partial, error);
  throw std::runtime_error("cannot write " + path + ": " + why);
}

void write_series(const std::string& prefix, std::uint32_t count, std::uint64_t seed, std::uint64_t series) {
  std::vector<std::uint8_t> images, labels;
  append_big_endian(images, 0x803);
  for (const std::uint32_t size : {count, std::uint32_t{kSide}, std::uint32_t{kSide}}) append_big_endian(images, size);
  append_big_endian(labels, 0x801);
  append_big_endian(labels, count);
  images.reserve(images.size() + std::size_t{count} * kSide * kSide);
  for (std::uint32_t i = 0; i < count; ++i) {
    const DrawnDigit digit = draw_digit(seed, series, i);
    labels.push_back(digit.label);
    images.insert(images.end(), digit.pixels.begin(), digit.pixels.end());
  }
  write_gzip(prefix + "-images-idx3-ubyte.gz", images);
  write_gzip(prefix + "-labels-idx1-ubyte.gz", labels);
}

}  // namespace

DrawnDigit draw_digit(std::uint64_t seed, std::uint64_t series, std::uint64_t index) {
  Random random(seed, series, index);
  DrawnDigit digit;
  digit.label = static_cast<std::uint8_t>(random.uniform() * 10);
  Canvas canvas;
  draw_shape(canvas, random, digit.label);
  draw_distractors(canvas, random);
  const double noise = random.uniform(0, 0.07);
  for (std::size_t i = 0; i < digit.pixels.size(); ++i) {
    const double value = canvas.ink()[i] + noise * random.normal();
    digit.pixels[i] = static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0., 1.)));
  }
  return digit;
}

void write_digits(const std::string& folder, std::uint32_t train, std::uint32_t test, std::uint64_t seed) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw std::runtime_error("cannot create the folder " + folder + ": " + error.message());
  write_series(folder + "/train", train, seed, 0);
  write_series(folder + "/t10k", test, seed, 1);
}

}  // namespace digits
