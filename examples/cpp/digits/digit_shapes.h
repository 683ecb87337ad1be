// How people write the ten digits, as strokes.
#pragma once

#include <vector>

namespace digits {

// In a unit square, y downwards.
struct Point {
  double x, y;
};

// The pen's way without lifting it, in steps short enough to be bent.
using Stroke = std::vector<Point>;

// One of the ways to write `digit` (0 to 9); `choice` in [0, 1) picks it.
std::vector<Stroke> digit_shape(int digit, double choice);

}  // namespace digits
