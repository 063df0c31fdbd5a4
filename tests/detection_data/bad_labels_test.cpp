// The damaged COCO and YOLO inputs of the outside data (bad/INDEX.tsv): each does what its line
// says. Skipped where they are not at hand; label_readers_test.cpp makes its own.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/coco_set.h"
#include "data/yolo_set.h"
#include "data_loader/picture_files.h"

namespace falcon::data {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::Pair;

class BadLabels : public testing::Test {
 protected:
  void SetUp() override {
    const auto found = test::outside_data("bad");
    if (!found) GTEST_SKIP() << "the damaged files (bad) are not here: FALCONBENCH_DATA_DIR";
    bad_ = *found;
    fs::create_directories(folder_ / "images/train");
    fs::create_directories(folder_ / "labels/train");
    fs::create_directories(folder_ / "annotations");
    fs::copy_file(bad_ / "yolo/images/one.jpg", folder_ / "images/train/one.jpg");
  }

  DatasetOptions options() const {
    DatasetOptions options;
    options.path = folder_.path();
    options.subfolder = "train";
    options.classes = 80;
    return options;
  }
  DetectionSet coco(const std::string& name) {
    fs::copy_file(bad_ / "coco" / name, folder_ / "annotations/instances_train.json");
    return read_coco_set(options());
  }
  DetectionSet yolo(const std::string& name) {
    fs::copy_file(bad_ / "yolo/labels" / name, folder_ / "labels/train/one.txt",
                  fs::copy_options::overwrite_existing);
    return read_yolo_set(options());
  }

  test::TemporaryFolder folder_;
  fs::path bad_;
};

TEST_F(BadLabels, AMissingPictureIsCounted) {
  const DetectionSet set = coco("missing_image.json");
  EXPECT_EQ(set.pictures.size(), 1U);
  EXPECT_THAT(set.skipped.counts(), ElementsAre(Pair("missing_image", 1)));
  EXPECT_EQ(set.skipped.kept()[0].item, "not_there.jpg");
}

TEST_F(BadLabels, ZeroWidthAndUnknownCategoryAreCounted) {
  const DetectionSet set = coco("zero_width_and_unknown_category.json");
  EXPECT_EQ(set.boxes.size(), 1U);
  EXPECT_THAT(set.skipped.counts(), ElementsAre(Pair("no_area", 1), Pair("unknown_category", 1)));
}

TEST_F(BadLabels, ACrowdIsNoTrainingTarget) {
  const DetectionSet set = coco("crowd_rle.json");
  EXPECT_EQ(set.boxes.size(), 1U);
  EXPECT_THAT(set.skipped.counts(), ElementsAre(Pair("crowd", 1)));
}

TEST_F(BadLabels, YoloLinesDoAsTheIndexSays) {
  EXPECT_THAT(yolo("class_80.txt").skipped.counts(), ElementsAre(Pair("class_out_of_range", 1)));
  EXPECT_THAT(yolo("nan.txt").skipped.counts(), ElementsAre(Pair("not_finite", 1)));
  EXPECT_THAT(yolo("four_columns.txt").skipped.counts(), ElementsAre(Pair("columns", 1)));
  EXPECT_THAT(yolo("duplicates.txt").skipped.counts(), ElementsAre(Pair("duplicate_box", 1)));
  EXPECT_EQ(yolo("duplicates.txt").boxes.size(), 2U);
  EXPECT_EQ(yolo("empty.txt").pictures.size(), 1U);
  const DetectionSet marked = yolo("crlf_bom.txt");
  ASSERT_EQ(marked.boxes.size(), 2U);
  EXPECT_EQ(marked.boxes[1].label, 2);
  EXPECT_THAT(yolo("polygon.txt").boxes,
              ElementsAre(LabelledBox{0.3F, 0.35F, 0.4F, 0.5F, 3, false}));
}

TEST(CocoMini, BothFormsHoldTheSameBoxes) {
  const auto found = test::outside_data("coco-mini");
  if (!found) GTEST_SKIP() << "the pictures (coco-mini) are not here: FALCONBENCH_DATA_DIR";
  DatasetOptions options;
  options.path = *found;
  options.subfolder = "train";
  options.classes = 80;
  const DetectionSet coco = read_coco_set(options);
  const DetectionSet yolo = read_yolo_set(options);
  EXPECT_EQ(coco.pictures.size(), 48U);
  EXPECT_EQ(coco.boxes.size(), 357U);
  EXPECT_EQ(coco.classes, yolo.classes);
  ASSERT_EQ(yolo.boxes.size(), coco.boxes.size());
  EXPECT_THAT(yolo.skipped.counts(), ElementsAre(Pair("missing_image", 2)));
  for (std::size_t i = 0; i < yolo.boxes.size(); ++i) {
    EXPECT_EQ(coco.boxes[i].label, yolo.boxes[i].label);
    EXPECT_NEAR(coco.boxes[i].x, yolo.boxes[i].x, 1e-5);
    EXPECT_NEAR(coco.boxes[i].height, yolo.boxes[i].height, 1e-5);
  }
}

}  // namespace
}  // namespace falcon::data
