// Where the pictures of one training sample of detection go: the YOLOv5 reference recipe for
// training from scratch (load_mosaic and random_perspective of utils/, hyp.scratch-low.yaml, v7.0)
// as numbers only. Rotation, shear, perspective, mix-up and vertical flips are 0 in that recipe and
// do not exist here, so the affine map is a zoom and a shift: one resampling does both resizes and
// the flip. Unlike OpenCV's warp, which scales pixel centres, it scales pixel areas, as the boxes
// are: a quarter pixel of difference at most.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/counter_random.h"
#include "data/bilinear.h"
#include "data/hsv.h"
#include "data/letterbox.h"

namespace falcon::data {

/// Ranges of the recipe.
struct AugmentRanges {
  double shift = 0.1;  // parts of the result's side, either way
  double zoom = 0.5;   // around 1
  double hue = 0.015;
  double saturation = 0.7;
  double value = 0.4;
  double mirrored = 0.5;  // probability
};

/// What is drawn for a sample, in a fixed order.
struct AugmentDraw {
  double zoom = 1;
  double shift_x = 0.5;  // where the canvas's centre comes to lie, in parts of the result's side
  double shift_y = 0.5;
  HsvGains gains;
  bool is_mirrored = false;
};
AugmentDraw draw_augment(const AugmentRanges& ranges, base::CounterRandom& random);

/// Four pictures that meet at a point of a canvas of twice the result's side. pictures[0] is left
/// above, then right above, left below, right below.
struct MosaicDraw {
  int center_x = 0;
  int center_y = 0;
  std::array<std::int64_t, 4> pictures{};
};
/// index: the sample's own picture; the others are drawn from 0 .. count - 1, and all are shuffled.
MosaicDraw draw_mosaic(std::int64_t index, std::int64_t count, int image_size,
                       base::CounterRandom& random);

/// A picture on the canvas: its size there, its top left corner (it may lie outside), and the part
/// that is shown.
struct Tile {
  PictureSize size;
  double x = 0;
  double y = 0;
  BoxCorners shown;
};
/// place: 0 .. 3 as in MosaicDraw. size: resized_for() of the picture.
Tile mosaic_tile(const MosaicDraw& draw, int place, const PictureSize& size, int image_size);
/// A letterboxed picture alone, on a canvas of the result's side.
Tile single_tile(const SquareFit& fit);

/// From a canvas to the result.
class Placement {
 public:
  Placement(const AugmentDraw& draw, int canvas_size, int image_size);
  /// Cut at the result's edges.
  BoxCorners box(const BoxCorners& on_canvas) const;

  /// A rectangle of whole pixels of the result and the way from it to a picture's own pixels.
  struct Window {
    int left = 0;
    int top = 0;
    LinearMap columns;
    LinearMap lines;
  };
  /// What is seen of a tile whose file has `original` pixels; nothing when it is out of view.
  /// Neighbouring tiles neither overlap nor leave a gap.
  std::optional<Window> window(const Tile& tile, const PictureSize& original) const;
  double zoom() const { return zoom_; }

 private:
  double zoom_;
  double half_canvas_;
  double shift_x_;  // pixels of the result
  double shift_y_;
  int image_size_;
  bool is_mirrored_;
};

/// Whether a box is still worth learning: wider and higher than 2 pixels, more than a tenth of its
/// area left, sides within 100 of each other. `before`: on the canvas, cut at its edges.
bool is_target(const BoxCorners& before, const BoxCorners& after, double zoom);

}  // namespace falcon::data
