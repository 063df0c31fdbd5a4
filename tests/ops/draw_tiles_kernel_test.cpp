// The kernel that draws pictures from tiles against its plain form.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

#include "data/tiles.h"
#include "ops/draw_tiles.h"

namespace falcon::ops {
namespace {

// Tiles that meet at a point of the picture, of sources of other sizes; the right ones mirrored.
TileBatch random_batch(std::int64_t count, int side) {
  TileBatch batch;
  batch.pixels = at::randint(0, 256, {count, data::kSourceShare * side * side, 3}, at::kByte);
  batch.tiles = at::zeros({count, data::kTiles, 6}, at::kInt);
  batch.axes = at::zeros({count, data::kTiles, 2, side}, at::kInt);
  batch.gains =
      at::rand({count, 3}) * at::tensor({0.03F, 1.4F, 0.8F}) + at::tensor({0.985F, 0.3F, 0.6F});
  for (std::int64_t n = 0; n < count; ++n) {
    const int x = side / 3 + static_cast<int>(n) * 5;
    const int y = side / 2 - static_cast<int>(n) * 3;
    std::int32_t first_pixel = 0;
    for (int t = 0; t < data::kTiles - (n == 1 ? 1 : 0); ++t) {  // one has a part without tile
      data::TileRecord tile;
      tile.left = t % 2 == 0 ? 0 : x;
      tile.top = t < 2 ? 0 : y;
      tile.columns = t % 2 == 0 ? x : side - x;
      tile.lines = t < 2 ? y : side - y;
      const int width = tile.columns * (2 + t) / 4 + 1;
      const int height = tile.lines * (5 - t) / 4 + 1;
      const double across = static_cast<double>(width) / tile.columns;
      data::LinearAxis columns;
      data::LinearAxis lines;
      columns.assign(t % 2 == 0 ? data::LinearMap{across, 0, width, tile.columns}
                                : data::LinearMap{-across, 1.0 * width, width, tile.columns});
      lines.assign({static_cast<double>(height) / tile.lines, 0, height, tile.lines});
      tile.first_pixel = first_pixel;
      tile.row_pixels = columns.source_end() - columns.source_begin();
      first_pixel += tile.row_pixels * (lines.source_end() - lines.source_begin());
      const at::Tensor axes = batch.axes[n][t];
      columns.write(axes[0].mutable_data_ptr<std::int32_t>());
      lines.write(axes[1].mutable_data_ptr<std::int32_t>());
      static_cast<data::TileRecord*>(batch.tiles[n].mutable_data_ptr())[t] = tile;
    }
    EXPECT_LE(first_pixel, batch.pixels.size(1));
  }
  return batch;
}

class DrawTilesKernel : public testing::TestWithParam<at::ScalarType> {};

TEST_P(DrawTilesKernel, DrawsWhatThePlainFormDraws) {
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no GPU";
  constexpr int kSide = 96;
  constexpr std::int64_t kCount = 5;
  const TileBatch host = random_batch(kCount, kSide);
  const TileBatch batch{host.pixels.cuda(), host.tiles.cuda(), host.axes.cuda(), host.gains.cuda()};
  for (const auto layout : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    const auto options = at::TensorOptions(at::kCUDA).dtype(GetParam());
    const at::Tensor got = at::empty({kCount, 3, kSide, kSide}, options, layout);
    const at::Tensor want = at::empty({kCount, 3, kSide, kSide}, options, layout);
    draw_tiles(batch, {}, got);
    draw_tiles_plain(batch, {}, want);
    // the same bytes, so less than a level (0.0039 before the normalisation) apart: rounding alone
    EXPECT_LE((got - want).abs().max().item<double>(), GetParam() == at::kFloat ? 1e-6 : 0.0);
    EXPECT_GT(want.abs().max().item<double>(), 0.5);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, DrawTilesKernel,
                         testing::Values(at::kFloat, at::kHalf, at::kBFloat16),
                         [](const auto& row) { return std::string(at::toString(row.param)); });

}  // namespace
}  // namespace falcon::ops
