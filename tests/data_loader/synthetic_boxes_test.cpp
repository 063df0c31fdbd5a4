#include "data/synthetic_boxes.h"

#include <array>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/errors.h"

namespace falcon::data {
namespace {

using Target = std::array<float, 5>;
using Targets = std::array<Target, SyntheticBoxes::kMostTargets>;

struct Sample {
  std::vector<std::byte> image;
  Targets targets{};
  friend bool operator==(const Sample&, const Sample&) = default;
};

Sample read(const Dataset& set, const SampleKey& key) {
  Sample sample;
  sample.image.resize(set.layout()[0].sample_bytes());
  const std::array<std::byte*, 2> destinations = {
      sample.image.data(), reinterpret_cast<std::byte*>(sample.targets.data())};
  ReadCost cost;
  SkippedItem skipped;
  const auto scratch = set.make_scratch();
  EXPECT_TRUE(set.read(key, destinations, *scratch, cost, skipped));
  EXPECT_EQ(cost.file_bytes, 0);
  return sample;
}

DatasetOptions options_of(std::int64_t image_size) {
  DatasetOptions options;
  options.task = "detection";
  options.image_size = image_size;
  options.classes = 80;
  options.count = 20000;
  return options;
}

TEST(SyntheticBoxes, AreAFunctionOfSeedAndIndexOnly) {
  const SyntheticBoxes set(options_of(32));
  EXPECT_EQ(read(set, {1, 0, 7}), read(set, {1, 5, 7}));
  EXPECT_NE(read(set, {1, 0, 7}).image, read(set, {2, 0, 7}).image);
  EXPECT_NE(read(set, {1, 0, 7}).targets, read(set, {2, 0, 7}).targets);
  EXPECT_NE(read(set, {1, 0, 7}).targets, read(set, {1, 0, 8}).targets);
}

TEST(SyntheticBoxes, LayoutIsPicturesAndPaddedTargets) {
  const std::unique_ptr<Dataset> set = make_dataset(options_of(64));
  ASSERT_EQ(set->layout().size(), 2u);
  EXPECT_EQ(set->layout()[0].name, "images");
  EXPECT_THAT(set->layout()[0].sample_shape, testing::ElementsAre(64, 64, 3));
  EXPECT_EQ(set->layout()[1].name, "targets");
  EXPECT_EQ(set->layout()[1].type, ElementType::kFloat32);
  EXPECT_THAT(set->layout()[1].sample_shape, testing::ElementsAre(93, 5));
  EXPECT_EQ(set->facts().at("classes"), "80");
}

TEST(SyntheticBoxes, ForAnEvaluationHaveNoCrowdsAndNoPadding) {
  DatasetOptions options = options_of(32);
  const std::unique_ptr<Dataset> trained = make_dataset(options);
  options.evaluation = true;
  const std::unique_ptr<Dataset> set = make_dataset(options);
  ASSERT_EQ(set->layout().size(), 4u);
  std::vector<std::vector<std::byte>> tensors;
  std::vector<std::byte*> destinations;
  for (const TensorLayout& tensor : set->layout()) {
    tensors.emplace_back(tensor.sample_bytes(), std::byte{0x5A});
    destinations.push_back(tensors.back().data());
  }
  ReadCost cost;
  SkippedItem skipped;
  ASSERT_TRUE(set->read({1, 0, 7}, destinations, *set->make_scratch(), cost, skipped));
  EXPECT_EQ(tensors[0], read(*trained, {1, 0, 7}).image);
  EXPECT_THAT(tensors[2], testing::Each(std::byte{0}));
  std::array<float, 4> content{};
  std::memcpy(content.data(), tensors[3].data(), sizeof content);
  EXPECT_THAT(content, testing::ElementsAre(0, 0, 1, 1));
}

TEST(SyntheticBoxes, LieInThePictureAndPaddingIsBehindThem) {
  const SyntheticBoxes set(options_of(32));
  for (std::int64_t i = 0; i < 300; ++i) {
    bool is_padding = false;
    for (const auto& [label, x, y, width, height] : read(set, {3, 0, i}).targets) {
      if (label < 0) {
        is_padding = true;
        continue;
      }
      EXPECT_FALSE(is_padding) << "a target behind padding";
      EXPECT_EQ(label, static_cast<float>(static_cast<int>(label)));
      EXPECT_LT(label, 80);
      EXPECT_GT(width, 0);
      EXPECT_GT(height, 0);
      for (const auto& [place, side] : {std::pair{x, width}, std::pair{y, height}}) {
        EXPECT_GE(place - side / 2, -1e-6);
        EXPECT_LE(place + side / 2, 1 + 1e-6);
      }
    }
  }
}

// COCO train2017: 7.27 boxes a picture, 0.86 % of the pictures without one, 41 % of the boxes
// smaller than 32 x 32 pixels and 75 % than 96 x 96.
TEST(SyntheticBoxes, NumbersAndSizesAreDistributedAsInCoco) {
  const SyntheticBoxes set(options_of(32));
  constexpr std::int64_t kPictures = 6000;
  double boxes = 0, empty = 0, small = 0, medium = 0;
  for (std::int64_t i = 0; i < kPictures; ++i) {
    int count = 0;
    for (const auto& [label, x, y, width, height] : read(set, {5, 0, i}).targets) {
      if (label < 0) break;
      ++count;
      const float area = width * 640 * height * 640;
      small += area < 32 * 32 ? 1 : 0;
      medium += area >= 32 * 32 && area < 96 * 96 ? 1 : 0;
    }
    boxes += count;
    empty += count == 0 ? 1 : 0;
  }
  EXPECT_NEAR(boxes / kPictures, 860001.0 / 118287, 0.35);
  EXPECT_NEAR(empty / kPictures, 1021.0 / 118287, 0.006);
  EXPECT_NEAR(small / boxes, 0.41, 0.03);
  EXPECT_NEAR(medium / boxes, 0.34, 0.03);
}

TEST(SyntheticBoxes, RefuseNothingToMake) {
  for (auto change :
       {+[](DatasetOptions& o) { o.classes = 0; }, +[](DatasetOptions& o) { o.image_size = 0; },
        +[](DatasetOptions& o) { o.count = 0; }}) {
    DatasetOptions options = options_of(32);
    change(options);
    EXPECT_THROW(make_dataset(options), Error);
  }
}

TEST(Synthetic, NeedsATaskThatItKnows) {
  DatasetOptions options = options_of(32);
  options.task = "poetry";
  EXPECT_THROW(make_dataset(options), Error);
}

}  // namespace
}  // namespace falcon::data
