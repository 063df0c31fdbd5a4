#include "data/synthetic_images.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/errors.h"

namespace falcon::data {
namespace {

struct Sample {
  std::vector<std::byte> image;
  std::int64_t label = -1;
  std::byte flip{9};
  friend bool operator==(const Sample&, const Sample&) = default;
};

Sample read(const Dataset& set, const SampleKey& key) {
  Sample sample;
  sample.image.resize(set.layout()[0].sample_bytes());
  const std::array<std::byte*, 3> destinations = {
      sample.image.data(), reinterpret_cast<std::byte*>(&sample.label), &sample.flip};
  ReadCost cost;
  SkippedItem skipped;
  const auto scratch = set.make_scratch();
  EXPECT_TRUE(set.read(key, destinations, *scratch, cost, skipped));
  EXPECT_EQ(cost.file_bytes, 0);
  return sample;
}

DatasetOptions options_of(std::int64_t image_size) {
  DatasetOptions options;
  options.image_size = image_size;
  options.classes = 10;
  options.count = 50;
  return options;
}

TEST(SyntheticImages, AreAFunctionOfSeedAndIndexOnly) {
  const SyntheticImages set(options_of(33));
  EXPECT_EQ(read(set, {1, 0, 7}), read(set, {1, 5, 7}));
  EXPECT_NE(read(set, {1, 0, 7}).image, read(set, {2, 0, 7}).image);
  EXPECT_NE(read(set, {1, 0, 7}).image, read(set, {1, 0, 8}).image);
}

TEST(SyntheticImages, UseAllLevelsLabelsAndBothDirections) {
  const SyntheticImages set(options_of(64));
  std::array<int, 10> labels{};
  int flips = 0;
  double sum = 0;
  for (std::int64_t i = 0; i < 50; ++i) {
    const Sample sample = read(set, {1, 0, i});
    ++labels.at(static_cast<std::size_t>(sample.label));
    flips += std::to_integer<int>(sample.flip);
    for (const std::byte b : sample.image) sum += std::to_integer<int>(b);
  }
  EXPECT_NEAR(sum / (50 * 64 * 64 * 3), 127.5, 0.5);
  EXPECT_THAT(labels, testing::Contains(testing::Gt(0)).Times(testing::Ge(9)));
  EXPECT_GT(flips, 10);
  EXPECT_LT(flips, 40);
}

TEST(SyntheticImages, LayoutIsThatOfAnImageFolder) {
  DatasetOptions options = options_of(32);
  const SyntheticImages training(options);
  ASSERT_EQ(training.layout().size(), 3u);
  EXPECT_EQ(training.layout()[0].name, "images");
  EXPECT_THAT(training.layout()[0].sample_shape, testing::ElementsAre(32, 32, 3));
  EXPECT_EQ(training.layout()[1].name, "labels");
  EXPECT_EQ(training.layout()[2].name, "flip");
  options.evaluation = true;
  EXPECT_EQ(SyntheticImages(options).layout().size(), 2u);
}

TEST(SyntheticImages, RefuseNothingness) {
  DatasetOptions options = options_of(32);
  options.count = 0;
  EXPECT_THROW(SyntheticImages{options}, Error);
}

TEST(DatasetCatalog, NamesTheNearestWord) {
  DatasetOptions options;
  options.format = "imagefoldr";
  try {
    make_dataset(options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean imagefolder?"));
  }
  options = options_of(32);
  EXPECT_EQ(make_dataset(options)->size(), 50);
}

}  // namespace
}  // namespace falcon::data
