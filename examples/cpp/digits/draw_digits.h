// Digits like MNIST's, drawn by the program: a data set for whoever has none at hand.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace digits {

inline constexpr int kSide = 28;

struct DrawnDigit {
  std::uint8_t label;
  std::array<std::uint8_t, kSide * kSide> pixels;  // row by row, 255 is ink
};

// Digit `index` of a series, a pure function of its arguments: a shape of a random digit, moved, turned, sheared, bent
// and jittered, with a pen of random width, other strokes around it, and noise.
DrawnDigit draw_digit(std::uint64_t seed, std::uint64_t series, std::uint64_t index);

// Writes train-{images-idx3,labels-idx1}-ubyte.gz and t10k-… as MNIST has them into `folder`, which is made if needed.
// Throws std::runtime_error that names the file.
void write_digits(const std::string& folder, std::uint32_t train, std::uint32_t test, std::uint64_t seed);

}  // namespace digits
