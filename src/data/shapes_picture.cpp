#include "data/shapes_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/counter_random.h"
#include "data/textured_picture.h"

namespace falcon::data {
namespace {

constexpr double kBackgroundShare = 0.02;  // of the pictures have no shape
constexpr double kLeastSide = 0.04;        // of the longer side of the picture
constexpr double kMostSide = 0.35;
constexpr int kLeastPixels = 6;
constexpr int kTries = 30;  // to find a free place
constexpr int kTextures = 10;

using Colour = std::array<double, 3>;

// u and v run from -1 to 1 over the shape's box.
bool is_inside(int shape, double u, double v) {
  const double radius = u * u + v * v;
  switch (shape) {
    case 0:
      return radius <= 1;  // disc
    case 1:
      return true;  // rectangle
    case 2:
      return std::abs(u) <= (v + 1) / 2;  // triangle
    case 3:
      return std::abs(u) + std::abs(v) <= 1;  // rhombus
    case 4:
      return std::abs(u) <= 0.35 || std::abs(v) <= 0.35;  // cross
    default:
      return radius <= 1 && radius >= 0.4;  // ring
  }
}
constexpr int kShapes = 6;

// Hues of the classes are spread over the turn; shade varies from shape to shape.
Colour colour_of(int label, int classes, base::CounterRandom& random) {
  const double turn = 2 * std::numbers::pi * label / classes;
  const double level = random.uniform(105, 150);
  Colour colour{};
  for (std::size_t c = 0; c < 3; ++c) {
    const double wave = std::cos(turn - 2 * std::numbers::pi * static_cast<double>(c) / 3);
    colour[c] = level + 95 * wave;
  }
  return colour;
}

// The box shrinks to the pixels drawn.
void draw(const DrawnShape& wanted, const Colour& colour, const ShapesOptions& o,
          ShapesPicture& picture) {
  int low_x = o.width;
  int low_y = o.height;
  int high_x = -1;
  int high_y = -1;
  for (int y = wanted.top; y < wanted.top + wanted.height; ++y) {
    for (int x = wanted.left; x < wanted.left + wanted.width; ++x) {
      const double u = (x - wanted.left + 0.5) / wanted.width * 2 - 1;
      const double v = (y - wanted.top + 0.5) / wanted.height * 2 - 1;
      if (!is_inside(wanted.label % kShapes, u, v)) continue;
      std::uint8_t* pixel = picture.rgb.data() +
                            3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(o.width) +
                                 static_cast<std::size_t>(x));
      for (std::size_t c = 0; c < 3; ++c) {
        const double grain = 0.15 * (pixel[c] - 128);  // a little of the texture below
        pixel[c] = static_cast<std::uint8_t>(std::clamp(colour[c] + grain, 0.0, 255.0));
      }
      low_x = std::min(low_x, x);
      low_y = std::min(low_y, y);
      high_x = std::max(high_x, x);
      high_y = std::max(high_y, y);
    }
  }
  picture.shapes.push_back({wanted.label, low_x, low_y, high_x - low_x + 1, high_y - low_y + 1});
}

bool overlaps(const DrawnShape& a, const DrawnShape& b) {
  return a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height &&
         b.top < a.top + a.height;
}

// Sides are drawn evenly in their logarithm: many small ones, few large ones.
int draw_side(int longest, base::CounterRandom& random) {
  const double share = std::exp(random.uniform(std::log(kLeastSide), std::log(kMostSide)));
  return std::max(kLeastPixels, static_cast<int>(share * longest));
}

DrawnShape draw_box(const ShapesOptions& o, base::CounterRandom& random) {
  const int longest = std::max(o.width, o.height);
  const int side = draw_side(longest, random);
  DrawnShape box;
  box.label = static_cast<int>(random.below(static_cast<std::uint64_t>(o.classes)));
  box.width = std::min(side, o.width);
  box.height =
      std::clamp(static_cast<int>(side * random.uniform(0.6, 1.6)), kLeastPixels, o.height);
  box.left = static_cast<int>(random.below(static_cast<std::uint64_t>(o.width - box.width + 1)));
  box.top = static_cast<int>(random.below(static_cast<std::uint64_t>(o.height - box.height + 1)));
  return box;
}

}  // namespace

ShapesPicture shapes_picture(const ShapesOptions& o) {
  base::CounterRandom random({o.seed, 4, static_cast<std::uint64_t>(o.index)});
  ShapesPicture picture;
  picture.rgb = textured_picture({.width = o.width,
                                  .height = o.height,
                                  .label = static_cast<int>(random.below(kTextures)),
                                  .classes = kTextures,
                                  .seed = o.seed,
                                  .index = o.index});
  const bool is_background = random.uniform() < kBackgroundShare;
  const int wanted =
      is_background
          ? 0
          : 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(2 * o.boxes - 1)));
  for (int i = 0; i < wanted; ++i) {
    for (int attempt = 0; attempt < kTries; ++attempt) {
      const DrawnShape box = draw_box(o, random);
      const auto is_hit = [&box](const DrawnShape& other) { return overlaps(box, other); };
      if (std::ranges::any_of(picture.shapes, is_hit)) continue;
      draw(box, colour_of(box.label, o.classes, random), o, picture);
      break;
    }
  }
  return picture;
}

}  // namespace falcon::data
