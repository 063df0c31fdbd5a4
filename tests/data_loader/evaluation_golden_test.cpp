// The evaluation transform against images.json (Pillow's decode and resize): geometry always,
// pixels where the pictures themselves are at hand.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "data/image_transform.h"
#include "data_loader/picture_files.h"

namespace falcon::data {
namespace {

using Json = nlohmann::json;

constexpr int kSize = 224;
constexpr double kMean[3] = {0.485, 0.456, 0.406};
constexpr double kStd[3] = {0.229, 0.224, 0.225};
// `about.tolerance` of the file: an 8-bit resize exactly as Pillow's, and the channel means.
constexpr double kPixelTolerance = 0.0001;
constexpr double kMeanTolerance = 0.0003;

Json reference() {
  const char* named = std::getenv("FALCONBENCH_REFERENCE_DATA_DIR");
  const std::filesystem::path folder = named != nullptr ? named : "tests/data/reference_data";
  std::ifstream file(folder / "images.json");
  EXPECT_TRUE(file) << "no images.json in " << folder;
  return Json::parse(file);
}

TEST(EvaluationGolden, SizesAndCropsAreThoseOfTheReference) {
  const Json json = reference();
  int rows = 0;
  for (const char* section : {"eval_sizes", "eval_images"}) {
    for (const Json& row : json.at(section)) {
      const ImageTransform t = evaluation_transform(row.at("width"), row.at("height"), kSize);
      EXPECT_EQ(t.horizontal.out_size, row.at("resized")[0]) << row;
      EXPECT_EQ(t.vertical.out_size, row.at("resized")[1]) << row;
      EXPECT_EQ(t.vertical.out_first, row.at("crop_top_left")[0]) << row;
      EXPECT_EQ(t.horizontal.out_first, row.at("crop_top_left")[1]) << row;
      ++rows;
    }
  }
  EXPECT_GT(rows, 20);
}

double normalised(std::uint8_t level, std::size_t channel) {
  return (level / 255.0 - kMean[channel]) / kStd[channel];
}

void expect_pixels(const Json& row, const std::vector<std::uint8_t>& rgb, double& worst) {
  for (const Json& pixel : row.at("pixels")) {
    const std::size_t at =
        3 * (pixel.at("y").get<std::size_t>() * kSize + pixel.at("x").get<std::size_t>());
    for (std::size_t c = 0; c < 3; ++c) {
      const double off = std::abs(normalised(rgb[at + c], c) - pixel.at("rgb")[c].get<double>());
      EXPECT_LE(off, kPixelTolerance) << row.at("path") << " " << pixel;
      worst = std::max(worst, off);
    }
  }
}

void expect_means(const Json& row, const std::vector<std::uint8_t>& rgb) {
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = 0;
    double squares = 0;
    for (std::size_t i = c; i < rgb.size(); i += 3) {
      const double v = normalised(rgb[i], c);
      sum += v;
      squares += v * v;
    }
    const double mean = sum / (kSize * kSize);
    EXPECT_NEAR(mean, row.at("mean")[c].get<double>(), kMeanTolerance) << row.at("path");
    EXPECT_NEAR(std::sqrt(squares / (kSize * kSize) - mean * mean), row.at("std")[c].get<double>(),
                kMeanTolerance)
        << row.at("path");
  }
}

TEST(EvaluationGolden, PixelsAreThoseOfPillow) {
  const auto pictures = test::outside_data("imagenet-mini");
  if (!pictures) GTEST_SKIP() << "the pictures (imagenet-mini) are not here: FALCONBENCH_DATA_DIR";
  ImageReader reader;
  std::vector<std::uint8_t> rgb(3 * kSize * kSize);
  int rows = 0;
  double worst = 0;
  const Json json = reference();
  for (const Json& row : json.at("eval_images")) {
    const auto path = pictures->parent_path() / row.at("path").get<std::string>();
    const std::vector<std::byte> file = test::read_bytes(path);
    ASSERT_TRUE(reader.open(file)) << path;
    ASSERT_TRUE(reader.read(evaluation_transform(reader.width(), reader.height(), kSize),
                            JpegDecoder::Extent::kWholeFile, rgb.data()))
        << path << reader.problem().detail;
    expect_pixels(row, rgb, worst);
    expect_means(row, rgb);
    ++rows;
  }
  std::cout << "golden images.json eval rows=" << rows << " worst=" << worst << "\n";
  EXPECT_GT(rows, 0);
}

TEST(EvaluationGolden, DecodedSumsAreExact) {
  const auto pictures = test::outside_data("imagenet-mini");
  if (!pictures) GTEST_SKIP() << "the pictures (imagenet-mini) are not here: FALCONBENCH_DATA_DIR";
  const Json json = reference();
  for (const Json& row : json.at("eval_images")) {
    int width = 0;
    int height = 0;
    DecodeProblem problem;
    const std::vector<std::uint8_t> rgb =
        decode_rgb(test::read_bytes(pictures->parent_path() / row.at("path").get<std::string>()),
                   width, height, problem);
    EXPECT_EQ(width, row.at("width"));
    EXPECT_EQ(height, row.at("height"));
    std::int64_t sums[3] = {};
    for (std::size_t i = 0; i < rgb.size(); ++i) sums[i % 3] += rgb[i];
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_EQ(sums[c], row.at("sum_rgb")[c].get<std::int64_t>()) << row.at("path");
    }
  }
}

}  // namespace
}  // namespace falcon::data
