#include "data/mosaic.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace falcon::data {
namespace {

constexpr double kLeastSide = 2;        // pixels
constexpr double kLeastAreaLeft = 0.1;  // of what it had
constexpr double kMostElongated = 100;

float gain(double range, base::CounterRandom& random) {
  return static_cast<float>(1 + range * random.uniform(-1, 1));
}

// The pixels of the result whose centres lie in [low, high): first and one behind the last.
std::pair<int, int> pixels_within(double low, double high, int image_size) {
  const auto edge = [image_size](double at) {
    return static_cast<int>(std::clamp<double>(std::ceil(at - 0.5), 0, image_size));
  };
  return {edge(low), edge(high)};
}

}  // namespace

AugmentDraw draw_augment(const AugmentRanges& ranges, base::CounterRandom& random) {
  AugmentDraw draw;
  draw.zoom = random.uniform(1 - ranges.zoom, 1 + ranges.zoom);
  draw.shift_x = random.uniform(0.5 - ranges.shift, 0.5 + ranges.shift);
  draw.shift_y = random.uniform(0.5 - ranges.shift, 0.5 + ranges.shift);
  draw.gains.hue = gain(ranges.hue, random);
  draw.gains.saturation = gain(ranges.saturation, random);
  draw.gains.value = gain(ranges.value, random);
  draw.is_mirrored = random.uniform() < ranges.mirrored;
  return draw;
}

MosaicDraw draw_mosaic(std::int64_t index, std::int64_t count, int image_size,
                       base::CounterRandom& random) {
  MosaicDraw draw;
  draw.center_y = static_cast<int>(random.uniform(0.5, 1.5) * image_size);
  draw.center_x = static_cast<int>(random.uniform(0.5, 1.5) * image_size);
  draw.pictures[0] = index;
  for (std::size_t i = 1; i < 4; ++i) {
    draw.pictures[i] = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(count)));
  }
  for (std::size_t i = 3; i > 0; --i)
    std::swap(draw.pictures[i], draw.pictures[random.below(i + 1)]);
  return draw;
}

Tile mosaic_tile(const MosaicDraw& draw, int place, const PictureSize& size, int image_size) {
  const bool is_right = (place & 1) != 0;
  const bool is_below = (place & 2) != 0;
  const double canvas = 2.0 * image_size;
  Tile tile;
  tile.size = size;
  tile.x = draw.center_x - (is_right ? 0 : size.width);
  tile.y = draw.center_y - (is_below ? 0 : size.height);
  tile.shown = cut({tile.x, tile.y, tile.x + size.width, tile.y + size.height}, canvas, canvas);
  return tile;
}

Tile single_tile(const SquareFit& fit) {
  const double x = fit.box.left;
  const double y = fit.box.top;
  return {fit.resized, x, y, {x, y, x + fit.resized.width, y + fit.resized.height}};
}

Placement::Placement(const AugmentDraw& draw, int canvas_size, int image_size)
    : zoom_(draw.zoom),
      half_canvas_(canvas_size / 2.0),
      shift_x_(draw.shift_x * image_size),
      shift_y_(draw.shift_y * image_size),
      image_size_(image_size),
      is_mirrored_(draw.is_mirrored) {}

BoxCorners Placement::box(const BoxCorners& on_canvas) const {
  const auto x = [this](double at) { return (at - half_canvas_) * zoom_ + shift_x_; };
  const auto y = [this](double at) { return (at - half_canvas_) * zoom_ + shift_y_; };
  BoxCorners box{x(on_canvas.left), y(on_canvas.top), x(on_canvas.right), y(on_canvas.bottom)};
  if (is_mirrored_) box = {image_size_ - box.right, box.top, image_size_ - box.left, box.bottom};
  return cut(box, image_size_, image_size_);
}

std::optional<Placement::Window> Placement::window(const Tile& tile,
                                                   const PictureSize& original) const {
  const auto x = [this](double at) { return (at - half_canvas_) * zoom_ + shift_x_; };
  const auto y = [this](double at) { return (at - half_canvas_) * zoom_ + shift_y_; };
  const auto [left, right] = pixels_within(x(tile.shown.left), x(tile.shown.right), image_size_);
  const auto [top, bottom] = pixels_within(y(tile.shown.top), y(tile.shown.bottom), image_size_);
  if (left >= right || top >= bottom) return std::nullopt;
  // Own pixels to one of the canvas.
  const double own_x = static_cast<double>(original.width) / tile.size.width;
  const double own_y = static_cast<double>(original.height) / tile.size.height;
  const auto source_x = [&](double at) {
    return ((at - shift_x_) / zoom_ + half_canvas_ - tile.x) * own_x;
  };
  const auto source_y = [&](double at) {
    return ((at - shift_y_) / zoom_ + half_canvas_ - tile.y) * own_y;
  };
  Window window;
  window.left = is_mirrored_ ? image_size_ - right : left;
  window.top = top;
  window.columns = {own_x / zoom_, source_x(left), original.width, right - left};
  if (is_mirrored_)
    window.columns = {-own_x / zoom_, source_x(right), original.width, right - left};
  window.lines = {own_y / zoom_, source_y(top), original.height, bottom - top};
  return window;
}

bool is_target(const BoxCorners& before, const BoxCorners& after, double zoom) {
  const double width = after.width();
  const double height = after.height();
  if (!(width > kLeastSide && height > kLeastSide)) return false;
  const double area_before = before.width() * before.height() * zoom * zoom;
  return width * height > kLeastAreaLeft * area_before &&
         std::max(width / height, height / width) < kMostElongated;
}

}  // namespace falcon::data
