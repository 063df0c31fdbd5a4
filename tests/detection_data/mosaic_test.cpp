// Where pictures and boxes go: pure geometry.
#include "data/mosaic.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace falcon::data {
namespace {

constexpr int kSize = 640;

base::CounterRandom random_for(std::uint64_t n) {
  return base::CounterRandom({3, n});
}

TEST(MosaicDraw, HoldsTheSamplesOwnPictureAndStaysInTheMiddleHalf) {
  std::set<std::size_t> places;
  for (std::uint64_t n = 0; n < 200; ++n) {
    base::CounterRandom random = random_for(n);
    const MosaicDraw draw = draw_mosaic(17, 1000, kSize, random);
    const auto own = std::find(draw.pictures.begin(), draw.pictures.end(), 17);
    ASSERT_NE(own, draw.pictures.end());
    places.insert(static_cast<std::size_t>(own - draw.pictures.begin()));
    ASSERT_GE(std::min(draw.center_x, draw.center_y), kSize / 2);
    ASSERT_LE(std::max(draw.center_x, draw.center_y), kSize * 3 / 2);
  }
  EXPECT_EQ(places.size(), 4U);
}

TEST(AugmentDraw, StaysWithinTheRecipesRanges) {
  int mirrored = 0;
  double zooms = 0;
  for (std::uint64_t n = 0; n < 2000; ++n) {
    base::CounterRandom random = random_for(n);
    const AugmentDraw draw = draw_augment({}, random);
    ASSERT_GE(draw.zoom, 0.5);
    ASSERT_LE(draw.zoom, 1.5);
    ASSERT_NEAR(draw.shift_x, 0.5, 0.1);
    ASSERT_NEAR(draw.gains.hue, 1, 0.0151);
    ASSERT_NEAR(draw.gains.saturation, 1, 0.701);
    ASSERT_NEAR(draw.gains.value, 1, 0.401);
    mirrored += draw.is_mirrored ? 1 : 0;
    zooms += draw.zoom;
  }
  EXPECT_NEAR(mirrored, 1000, 100);
  EXPECT_NEAR(zooms / 2000, 1, 0.03);
}

TEST(MosaicTile, PicturesMeetAtTheCentre) {
  const MosaicDraw draw{700, 500, {}};
  const PictureSize size{640, 480};
  const Tile left_above = mosaic_tile(draw, 0, size, kSize);
  EXPECT_EQ(left_above.x, 60);
  EXPECT_EQ(left_above.y, 20);
  EXPECT_EQ(left_above.shown.right, 700);
  const Tile right_below = mosaic_tile(draw, 3, size, kSize);
  EXPECT_EQ(right_below.x, 700);
  EXPECT_EQ(right_below.shown.right, 1280);  // cut at the canvas
  EXPECT_EQ(right_below.shown.bottom, 980);
  EXPECT_EQ(mosaic_tile(draw, 1, size, kSize).shown.left, 700);
  EXPECT_EQ(mosaic_tile(draw, 2, size, kSize).shown.top, 500);
}

// Every pixel of the result belongs to one tile at most, and its place in the picture and the
// transformed box agree.
TEST(Placement, WindowsNeitherOverlapNorLeaveGapsAndAgreeWithBoxes) {
  for (std::uint64_t n = 0; n < 100; ++n) {
    base::CounterRandom random = random_for(n);
    const MosaicDraw draw = draw_mosaic(0, 10, kSize, random);
    const AugmentDraw augment = draw_augment({}, random);
    const Placement placement(augment, 2 * kSize, kSize);
    std::vector<int> covered(kSize * kSize, 0);
    for (int place = 0; place < 4; ++place) {
      const PictureSize original{1000, 1000};
      const Tile tile = mosaic_tile(draw, place, {kSize, kSize}, kSize);
      const auto window = placement.window(tile, original);
      if (!window) continue;
      for (int y = 0; y < window->lines.out_count; ++y) {
        for (int x = 0; x < window->columns.out_count; ++x) {
          ++covered[static_cast<std::size_t>((window->top + y) * kSize + window->left + x)];
        }
      }
      // the box of a tenth of the picture, by way of the canvas and by way of the window
      const BoxCorners on_canvas{tile.x + 256, tile.y + 256, tile.x + 320, tile.y + 320};
      const BoxCorners box = placement.box(on_canvas);
      if (box.left <= 0 || box.right >= kSize || box.width() < 1) continue;
      const double in_window = (box.left + box.right) / 2 - window->left;
      const double own_x = window->columns.scale * in_window + window->columns.shift;
      EXPECT_NEAR(own_x, 450, 1e-6) << n;
    }
    // Tiles of the full size around a centre in the middle half cover a square of the result's
    // side.
    EXPECT_EQ(*std::max_element(covered.begin(), covered.end()), 1) << n;
    const BoxCorners around = placement.box(
        {draw.center_x - 1.0, draw.center_y - 1.0, draw.center_x + 1.0, draw.center_y + 1.0});
    if (around.left > 2 && around.right < kSize - 2 && around.top > 2 &&
        around.bottom < kSize - 2) {
      for (int y = static_cast<int>(around.top); y <= static_cast<int>(around.bottom); ++y) {
        for (int x = static_cast<int>(around.left); x <= static_cast<int>(around.right); ++x) {
          EXPECT_EQ(covered[static_cast<std::size_t>(y * kSize + x)], 1) << n;
        }
      }
    }
  }
}

TEST(Placement, MirroringIsAboutTheMiddle) {
  const Placement plain({}, kSize, kSize);
  AugmentDraw draw;
  draw.is_mirrored = true;
  const Placement mirrored(draw, kSize, kSize);
  EXPECT_EQ(plain.box({10, 20, 110, 60}).left, 10);
  EXPECT_EQ(mirrored.box({10, 20, 110, 60}).left, kSize - 110);
  EXPECT_EQ(mirrored.box({10, 20, 110, 60}).top, 20);
  const Tile tile{{kSize, kSize}, 0, 0, {0, 0, kSize, kSize}};
  const auto window = mirrored.window(tile, {kSize, kSize});
  ASSERT_TRUE(window);
  EXPECT_EQ(window->columns.scale, -1);
  EXPECT_EQ(window->columns.shift, kSize);
}

TEST(IsTarget, FollowsTheReferencesLimits) {
  const BoxCorners before{0, 0, 100, 100};
  EXPECT_TRUE(is_target(before, {0, 0, 100, 11}, 1));
  EXPECT_FALSE(is_target(before, {0, 0, 100, 10}, 1));  // a tenth of the area is not enough
  EXPECT_TRUE(is_target(before, {0, 0, 25, 11}, 0.5));  // of the area after the zoom
  EXPECT_FALSE(is_target(before, {0, 0, 25, 9}, 0.5));
  EXPECT_FALSE(is_target({0, 0, 3, 3}, {0, 0, 2, 3}, 1));  // 2 pixels are too few
  EXPECT_TRUE(is_target({0, 0, 3, 3}, {0, 0, 2.1, 3}, 1));
  EXPECT_FALSE(is_target({0, 0, 400, 3}, {0, 0, 400, 3}, 1));  // over 100 times as wide as high
}

}  // namespace
}  // namespace falcon::data
