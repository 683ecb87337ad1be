#include "digit_shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace digits {
namespace {

// A smooth curve through all points (Catmull-Rom).
Stroke curve(const std::vector<Point>& through) {
  constexpr int kSteps = 6;
  const auto at = [&](std::ptrdiff_t i) {
    return through[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(i, 0, std::ssize(through) - 1))];
  };
  const auto blend = [](double a, double b, double c, double d, double t) {
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t + (3 * b - a - 3 * c + d) * t * t * t);
  };
  Stroke stroke;
  for (std::ptrdiff_t i = 0; i + 1 < std::ssize(through); ++i) {
    const Point a = at(i - 1), b = at(i), c = at(i + 1), d = at(i + 2);
    for (int step = 0; step < kSteps; ++step) {
      const double t = step / double{kSteps};
      stroke.push_back({blend(a.x, b.x, c.x, d.x, t), blend(a.y, b.y, c.y, d.y, t)});
    }
  }
  stroke.push_back(through.back());
  return stroke;
}

// Straight from point to point.
Stroke lines(const std::vector<Point>& corners) {
  constexpr int kSteps = 4;
  Stroke stroke;
  for (std::size_t i = 0; i + 1 < corners.size(); ++i) {
    for (int step = 0; step < kSteps; ++step) {
      const double t = step / double{kSteps};
      stroke.push_back({std::lerp(corners[i].x, corners[i + 1].x, t), std::lerp(corners[i].y, corners[i + 1].y, t)});
    }
  }
  stroke.push_back(corners.back());
  return stroke;
}

// Part of an ellipse; angles in turns, clockwise from the right.
Stroke arc(Point center, double radius_x, double radius_y, double from, double to) {
  const int steps = 4 + static_cast<int>(std::abs(to - from) * 20);
  Stroke stroke;
  for (int i = 0; i <= steps; ++i) {
    const double angle = 2 * std::numbers::pi * std::lerp(from, to, i / double(steps));
    stroke.push_back({center.x + radius_x * std::cos(angle), center.y + radius_y * std::sin(angle)});
  }
  return stroke;
}

using Shape = std::vector<Stroke>;

std::vector<Shape> shapes_of(int digit) {
  switch (digit) {
    case 0:
      return {
          {arc({.5, .5}, .28, .42, -.25, .75)},
          {arc({.5, .5}, .22, .42, -.3, .72)},
          {arc({.5, .5}, .33, .36, -.2, .84)},
      };
    case 1:
      return {
          {lines({{.5, .08}, {.5, .92}})},
          {lines({{.34, .26}, {.54, .08}, {.54, .92}})},
          {lines({{.34, .26}, {.52, .08}, {.52, .92}}), lines({{.32, .92}, {.72, .92}})},
      };
    case 2:
      return {
          {curve({{.24, .3}, {.36, .12}, {.58, .1}, {.72, .26}, {.64, .46}, {.42, .7}, {.22, .9}}),
           lines({{.22, .9}, {.78, .9}})},
          {curve({{.26, .22},
                  {.48, .08},
                  {.7, .22},
                  {.64, .5},
                  {.4, .8},
                  {.24, .88},
                  {.22, .76},
                  {.36, .74},
                  {.56, .88},
                  {.8, .86}})},
          {lines({{.24, .12}, {.66, .12}, {.7, .3}, {.24, .9}, {.78, .9}})},
      };
    case 3:
      return {
          {curve({{.26, .16}, {.5, .08}, {.7, .2}, {.64, .4}, {.42, .48}}),
           curve({{.42, .48}, {.7, .56}, {.74, .76}, {.52, .92}, {.24, .84}})},
          {lines({{.24, .1}, {.72, .1}, {.46, .42}}),
           curve({{.46, .42}, {.72, .54}, {.72, .8}, {.48, .92}, {.22, .84}})},
          {curve({{.28, .2}, {.52, .08}, {.66, .24}, {.48, .44}, {.66, .56}, {.68, .8}, {.44, .92}, {.26, .78}})},
      };
    case 4:
      return {
          {lines({{.34, .1}, {.2, .58}, {.8, .58}}), lines({{.64, .3}, {.62, .92}})},
          {lines({{.62, .92}, {.62, .08}, {.18, .64}, {.82, .64}})},
          {curve({{.26, .12}, {.24, .4}, {.36, .52}, {.6, .5}, {.7, .44}}), lines({{.72, .1}, {.66, .92}})},
      };
    case 5:
      return {
          {lines({{.74, .1}, {.34, .1}, {.3, .44}}),
           curve({{.3, .44}, {.54, .38}, {.74, .56}, {.68, .82}, {.44, .92}, {.22, .84}})},
          {curve({{.34, .12}, {.3, .46}, {.56, .42}, {.72, .62}, {.58, .88}, {.26, .88}}),
           lines({{.34, .12}, {.76, .1}})},
          {curve({{.74, .12}, {.4, .12}, {.34, .36}, {.6, .48}, {.7, .68}, {.54, .9}, {.24, .86}})},
      };
    case 6:
      return {
          {curve({{.66, .1},
                  {.4, .26},
                  {.26, .56},
                  {.32, .84},
                  {.54, .92},
                  {.72, .76},
                  {.62, .56},
                  {.42, .56},
                  {.28, .7}})},
          {lines({{.58, .08}, {.3, .6}}), arc({.48, .72}, .2, .19, .5, 1.5)},
          {curve({{.38, .08}, {.28, .4}, {.28, .74}, {.46, .92}, {.68, .8}, {.64, .58}, {.46, .54}, {.3, .68}})},
      };
    case 7:
      return {
          {lines({{.22, .12}, {.78, .12}, {.44, .92}})},
          {lines({{.22, .12}, {.78, .12}, {.46, .92}}), lines({{.36, .52}, {.72, .52}})},
          {curve({{.2, .22}, {.26, .12}, {.5, .14}, {.76, .1}, {.6, .42}, {.5, .68}, {.48, .92}})},
      };
    case 8:
      return {
          {arc({.5, .29}, .19, .19, .25, 1.25), arc({.5, .7}, .24, .22, -.25, .75)},
          {curve({{.7, .16},
                  {.46, .08},
                  {.3, .24},
                  {.5, .46},
                  {.72, .7},
                  {.5, .92},
                  {.28, .72},
                  {.48, .48},
                  {.68, .26},
                  {.62, .12}})},
          {arc({.48, .28}, .22, .18, .2, 1.22), arc({.52, .7}, .2, .22, -.3, .72)},
      };
    case 9:
      return {
          {arc({.48, .32}, .22, .22, 0, 1), lines({{.7, .32}, {.66, .92}})},
          {curve(
              {{.7, .2}, {.48, .08}, {.28, .28}, {.42, .5}, {.68, .38}, {.7, .2}, {.7, .56}, {.56, .88}, {.3, .88}})},
          {arc({.5, .3}, .18, .2, -.1, .95), curve({{.68, .24}, {.66, .6}, {.5, .92}})},
      };
  }
  return {};
}

}  // namespace

std::vector<Stroke> digit_shape(int digit, double choice) {
  static const auto all = [] {
    std::array<std::vector<Shape>, 10> shapes;
    for (int d = 0; d < 10; ++d) shapes[static_cast<std::size_t>(d)] = shapes_of(d);
    return shapes;
  }();
  const auto& shapes = all.at(static_cast<std::size_t>(digit));
  return shapes[static_cast<std::size_t>(choice * static_cast<double>(shapes.size()))];
}

}  // namespace digits
