// The two pictures that a training run leaves.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

struct Curve {
  std::vector<double> losses;                              // of each step
  std::vector<std::pair<std::size_t, double>> accuracies;  // per cent, after so many steps
};

// Both throw std::runtime_error when the file cannot be written.
void draw_curve(const std::string& path, const Curve& curve);

// Digits of 28 × 28 pixels one after another, at most fifty of them, with what each was taken for below it: in red,
// with the truth, where that was wrong.
void draw_digits(const std::string& path, std::span<const float> images, std::span<const std::int64_t> predicted,
                 std::span<const std::int64_t> labels);
