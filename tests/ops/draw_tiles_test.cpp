// Pictures drawn from tiles: their plain form against numbers worked out here.
#include "ops/draw_tiles.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "data/tiles.h"

namespace falcon::ops {
namespace {

constexpr ImageNormalization kAsTheyAre{{0, 0, 0}, {1, 1, 1}};

TEST(DrawTiles, BlendsNeighboursShiftsColoursAndLeavesPaddingElsewhere) {
  constexpr int kSide = 4;
  TileBatch batch;
  batch.pixels = at::zeros({1, data::kSourceShare * kSide * kSide, 3}, at::kByte);
  batch.tiles = at::zeros({1, data::kTiles, 6}, at::kInt);
  batch.axes = at::zeros({1, data::kTiles, 2, kSide}, at::kInt);
  batch.gains = at::ones({1, 3});
  // one row of two pixels becomes three pixels of row 1, from column 1 on
  batch.tiles[0][0].copy_(at::tensor({1, 1, 3, 1, 0, 2}, at::kInt));
  batch.axes[0][0][0].copy_(at::tensor({0, 1024, data::kPlaceFactor, 0}, at::kInt));
  batch.pixels[0].slice(0, 0, 2).copy_(
      at::tensor({10, 20, 30, 40, 60, 80}, at::kByte).view({2, 3}));
  const at::Tensor out = at::empty({1, 3, kSide, kSide}, at::kDouble);
  draw_tiles(batch, kAsTheyAre, out);
  const at::Tensor levels = out.mul(255).round().to(at::kInt);
  const auto row = [&](int y, int c) { return levels[0][c][y]; };
  EXPECT_TRUE(row(1, 0).equal(at::tensor({114, 10, 25, 40}, at::kInt)));
  EXPECT_TRUE(row(1, 1).equal(at::tensor({114, 20, 40, 60}, at::kInt)));
  EXPECT_TRUE(row(1, 2).equal(at::tensor({114, 30, 55, 80}, at::kInt)));
  EXPECT_TRUE(row(0, 1).equal(at::tensor({114, 114, 114, 114}, at::kInt)));
  batch.gains[0][2] = 0.5;  // value
  draw_tiles(batch, kAsTheyAre, out);
  EXPECT_TRUE(
      out.mul(255).round().to(at::kInt)[0][1][1].equal(at::tensor({57, 10, 20, 30}, at::kInt)));
}

}  // namespace
}  // namespace falcon::ops
