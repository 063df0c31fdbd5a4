#include "data/image_transform.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "data_loader/picture_files.h"

namespace falcon::data {
namespace {

base::CounterRandom random_for(std::uint64_t n) {
  return base::CounterRandom({1, n});
}

TEST(RandomCrop, StaysInsideAndWithinScaleAndRatio) {
  for (const auto& [w, h] : {std::pair(500, 375), {375, 500}, {64, 64}, {1000, 667}}) {
    for (std::uint64_t n = 0; n < 2000; ++n) {
      base::CounterRandom random = random_for(n);
      const PixelRect r = random_crop(w, h, random);
      ASSERT_GE(r.left, 0);
      ASSERT_GE(r.top, 0);
      ASSERT_LE(r.left + r.width, w);
      ASSERT_LE(r.top + r.height, h);
      const double scale = static_cast<double>(r.width) * r.height / (w * h);
      const double ratio = static_cast<double>(r.width) / r.height;
      ASSERT_GT(scale, 0.08 * 0.9);
      ASSERT_GT(ratio, 0.75 * 0.94);  // rounding to whole pixels
      ASSERT_LT(ratio, 1.34 * 1.06);
    }
  }
}

// torchvision 0.26: RandomResizedCrop.get_params of a 500 x 375 picture has a mean area of 0.4329
// (60000 draws).
TEST(RandomCrop, HasTorchvisionsMeanArea) {
  double sum = 0;
  constexpr int kCount = 20'000;
  for (std::uint64_t n = 0; n < kCount; ++n) {
    base::CounterRandom random = random_for(n);
    const PixelRect r = random_crop(500, 375, random);
    sum += static_cast<double>(r.width) * r.height / (500 * 375);
  }
  EXPECT_NEAR(sum / kCount, 0.4329, 0.008);
}

TEST(RandomCrop, FallsBackToTheLargestCentredRectangle) {
  base::CounterRandom random = random_for(0);
  EXPECT_EQ(random_crop(10'000, 10, random), (PixelRect{4993, 0, 13, 10}));
  EXPECT_EQ(random_crop(10, 10'000, random), (PixelRect{0, 4993, 10, 13}));
}

TEST(RandomCrop, OnePixelIsEnough) {
  base::CounterRandom random = random_for(0);
  EXPECT_EQ(random_crop(1, 1, random), (PixelRect{0, 0, 1, 1}));
}

TEST(ImageReader, CropAndResizeIsTheCropOfAFullDecodeResized) {
  test::JpegOptions o;
  o.width = 301;
  o.height = 203;
  const std::vector<std::byte> file = test::make_jpeg(o);
  int width = 0;
  int height = 0;
  DecodeProblem problem;
  const std::vector<std::uint8_t> whole = decode_rgb(file, width, height, problem);
  const PixelRect crop{33, 21, 180, 150};
  AxisWeights columns;
  AxisWeights lines;
  columns.assign({0, crop.width, 96, 0, 96});
  lines.assign({0, crop.height, 96, 0, 96});
  std::vector<std::uint8_t> rows(static_cast<std::size_t>(crop.height) * 288 + kRowSlack);
  for (int y = 0; y < crop.height; ++y) {
    std::vector<std::uint8_t> rgbx(4 * static_cast<std::size_t>(crop.width) + kRowSlack);
    for (int x = 0; x < crop.width; ++x) {
      const std::uint8_t* pixel = whole.data() + 3 * ((crop.top + y) * width + crop.left + x);
      std::copy(pixel, pixel + 3, rgbx.begin() + 4 * x);
    }
    resample_row(columns, rgbx.data(), rows.data() + 288 * y);
  }
  std::vector<std::uint8_t> expected(96 * 96 * 3);
  resample_columns(lines, {rows.data(), 288, 288}, expected.data(), 288);

  ImageReader reader;
  std::vector<std::uint8_t> got(expected.size());
  ASSERT_TRUE(reader.open(file));
  ASSERT_TRUE(
      reader.read(crop_and_resize(crop, 96), JpegDecoder::Extent::kUpToRectangle, got.data()));
  EXPECT_EQ(got, expected);
}

TEST(EvaluationTransform, KeepsTheProportionForOtherSizes) {
  const ImageTransform t = evaluation_transform(500, 375, 112);
  EXPECT_EQ(t.vertical.out_size, 128);
  EXPECT_EQ(t.horizontal.out_size, 170);
  EXPECT_EQ(t.vertical.out_first, 8);
  EXPECT_EQ(t.horizontal.out_first, 29);
  EXPECT_EQ(t.horizontal.out_count, 112);
}

}  // namespace
}  // namespace falcon::data
