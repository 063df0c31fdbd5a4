#include "data/resample.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/counter_random.h"

namespace falcon::data {
namespace {

std::vector<std::uint8_t> random_bytes(std::size_t count, std::uint64_t seed) {
  base::CounterRandom random({seed});
  std::vector<std::uint8_t> bytes(count);
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random.next());
  return bytes;
}

// The definition in floating point: weighted mean under a triangle whose half width is the
// reduction (at least 1).
double exact(const std::vector<std::uint8_t>& line, int out, int out_size) {
  const double in_size = static_cast<double>(line.size());
  const double scale = in_size / out_size;
  const double width = std::max(1.0, scale);
  const double center = (out + 0.5) * scale;
  double sum = 0;
  double weights = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const double w = std::max(0.0, 1 - std::abs((static_cast<double>(i) + 0.5 - center) / width));
    sum += w * line[i];
    weights += w;
  }
  return sum / weights;
}

class Resample : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && !has_avx2()) GTEST_SKIP() << "this processor has no AVX2";
  }
};

TEST_P(Resample, RowsAreTheWeightedMeans) {
  for (const auto& [in, out] : {std::pair(350, 224),
                                {224, 224},
                                {100, 224},
                                {1, 7},
                                {900, 224},
                                {2400, 224},
                                {500, 1},
                                {7, 5}}) {
    AxisWeights axis;
    axis.assign({0, in, out, 0, out});
    const std::vector<std::uint8_t> line = random_bytes(static_cast<std::size_t>(in), 1);
    std::vector<std::uint8_t> rgbx(4 * line.size() + kRowSlack);
    for (std::size_t i = 0; i < line.size(); ++i) {
      rgbx[4 * i] = line[i];
      rgbx[4 * i + 1] = static_cast<std::uint8_t>(255 - line[i]);
      rgbx[4 * i + 2] = 255;
    }
    std::vector<std::uint8_t> rgb(3 * static_cast<std::size_t>(out) + kRowSlack);
    resample_row(axis, rgbx.data(), rgb.data(), GetParam());
    for (int x = 0; x < out; ++x) {
      const std::uint8_t* pixel = rgb.data() + 3 * x;
      ASSERT_NEAR(pixel[0], exact(line, x, out), 0.51) << in << " to " << out << " at " << x;
      ASSERT_NEAR(pixel[1], 255 - exact(line, x, out), 0.51);
      ASSERT_EQ(pixel[2], 255);  // the weights' sum never carries a level over
    }
  }
}

TEST_P(Resample, ColumnsAreTheWeightedMeans) {
  constexpr std::size_t kRowBytes = 75;  // two whole AVX2 registers and a rest
  for (const auto& [in, out] : {std::pair(90, 56), {56, 56}, {10, 56}, {600, 56}}) {
    AxisWeights axis;
    axis.assign({0, in, out, 0, out});
    const std::vector<std::uint8_t> rows =
        random_bytes(kRowBytes * static_cast<std::size_t>(in), 2);
    std::vector<std::uint8_t> result(kRowBytes * static_cast<std::size_t>(out));
    resample_columns(axis, {rows.data(), kRowBytes, kRowBytes}, result.data(), kRowBytes,
                     GetParam());
    for (std::size_t column = 0; column < kRowBytes; ++column) {
      std::vector<std::uint8_t> line;
      for (std::size_t y = 0; y < static_cast<std::size_t>(in); ++y) {
        line.push_back(rows[y * kRowBytes + column]);
      }
      for (int y = 0; y < out; ++y) {
        ASSERT_NEAR(result[static_cast<std::size_t>(y) * kRowBytes + column], exact(line, y, out),
                    0.51);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Resample, testing::Bool(), [](const auto& parameter) {
  return parameter.param ? std::string("Avx2") : std::string("Plain");
});

TEST(ResampleWays, GiveTheSameBytes) {
  if (!has_avx2()) GTEST_SKIP() << "this processor has no AVX2";
  for (int in = 1; in < 1200; in += 37) {
    AxisWeights axis;
    axis.assign({0, in, 64, 0, 64});
    const auto rgbx = random_bytes(4 * static_cast<std::size_t>(in) + kRowSlack, 3);
    std::vector<std::uint8_t> plain(192 + kRowSlack);
    std::vector<std::uint8_t> fast(192 + kRowSlack);
    resample_row(axis, rgbx.data(), plain.data(), false);
    resample_row(axis, rgbx.data(), fast.data(), true);
    plain.resize(192);
    fast.resize(192);
    ASSERT_EQ(plain, fast) << in;
    const auto rows = random_bytes(100 * static_cast<std::size_t>(in), 4);
    std::vector<std::uint8_t> plain_columns(6400);
    std::vector<std::uint8_t> fast_columns(6400);
    resample_columns(axis, {rows.data(), 100, 100}, plain_columns.data(), 100, false);
    resample_columns(axis, {rows.data(), 100, 100}, fast_columns.data(), 100, true);
    ASSERT_EQ(plain_columns, fast_columns) << in;
  }
}

TEST(AxisWeights, AreaIsTheMeanOverAPixel) {
  for (const auto& [in, out] : {std::pair(10, 4), {9, 3}, {640, 417}, {5, 5}, {3, 1}}) {
    AxisWeights axis;
    axis.assign_area({2, in, out, 0, out});
    const double scale = static_cast<double>(in) / out;
    for (int i = 0; i < out; ++i) {
      double weight = 0;
      double mean = 0;  // of the place
      for (int k = 0; k < axis.taps(i); ++k) {
        weight += axis.weights(i)[k];
        mean += (axis.first(i) + k - 2 + 0.5) * axis.weights(i)[k];
      }
      EXPECT_NEAR(weight / (1 << kWeightBits), 1, 1e-5);
      EXPECT_NEAR(mean / (1 << kWeightBits), (i + 0.5) * scale, 0.13) << in << " to " << out;
    }
  }
}

TEST(AxisWeights, AWindowIsAPartOfTheWhole) {
  AxisWeights whole;
  AxisWeights part;
  whole.assign({0, 500, 341, 0, 341});
  part.assign({10, 500, 341, 58, 224});
  for (int i = 0; i < 224; ++i) {
    ASSERT_EQ(part.first(i), whole.first(58 + i) + 10);
    ASSERT_EQ(part.taps(i), whole.taps(58 + i));
    ASSERT_TRUE(std::equal(part.weights(i), part.weights(i) + part.taps(i), whole.weights(58 + i)));
  }
  EXPECT_GT(part.source_begin(), 10);
  EXPECT_LT(part.source_end(), 510);
}

}  // namespace
}  // namespace falcon::data
