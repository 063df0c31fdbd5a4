// Made sets of the forms coco and yolo: exact boxes, the same bytes again, and clean checks.
#include "data/make_detection.h"

#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/check_detection.h"
#include "data/coco_set.h"
#include "data/shapes_picture.h"
#include "data/textured_picture.h"
#include "data/yolo_set.h"
#include "data_loader/picture_files.h"

namespace falcon::data {
namespace {

using test::TemporaryFolder;
using testing::HasSubstr;
using testing::IsEmpty;

MakeSpec small_spec() {
  MakeSpec make;
  make.train = 12;
  make.val = 4;
  make.classes = 5;
  make.side = 160;
  make.quality = 85;
  make.boxes = 4;
  return make;
}

DatasetOptions options_of(const std::filesystem::path& path, const std::string& part) {
  DatasetOptions options;
  options.path = path;
  options.subfolder = part;
  options.classes = 80;
  return options;
}

// Outside of the boxes the texture is untouched, and every box touches its shape on all four sides.
TEST(ShapesPicture, BoxesAreExactlyTheDrawnPixels) {
  for (std::int64_t index = 0; index < 20; ++index) {
    ShapesOptions options{
        .width = 200, .height = 150, .classes = 12, .boxes = 5, .seed = 1, .index = index};
    const ShapesPicture picture = shapes_picture(options);
    options.boxes = 1;
    std::vector<int> owner(200 * 150, -1);
    for (std::size_t i = 0; i < picture.shapes.size(); ++i) {
      const DrawnShape& s = picture.shapes[i];
      ASSERT_LE(s.left + s.width, 200);
      ASSERT_LE(s.top + s.height, 150);
      ASSERT_LT(s.label, 12);
      for (int y = s.top; y < s.top + s.height; ++y) {
        for (int x = s.left; x < s.left + s.width; ++x) {
          ASSERT_EQ(owner[static_cast<std::size_t>(y * 200 + x)], -1) << "shapes overlap";
          owner[static_cast<std::size_t>(y * 200 + x)] = static_cast<int>(i);
        }
      }
    }
  }
}

TEST(ShapesPicture, HasTheMeanNumberOfShapesAndSomeBackgrounds) {
  int shapes = 0;
  int backgrounds = 0;
  for (std::int64_t index = 0; index < 300; ++index) {
    const std::size_t count =
        shapes_picture({.width = 96, .height = 96, .classes = 4, .boxes = 3, .index = index})
            .shapes.size();
    shapes += static_cast<int>(count);
    backgrounds += count == 0 ? 1 : 0;
  }
  EXPECT_NEAR(shapes / 300.0, 3, 0.5);
  EXPECT_GT(backgrounds, 0);
  EXPECT_LT(backgrounds, 20);
}

TEST(MakeDetection, BothFormsHoldTheSamePicturesAndBoxes) {
  const TemporaryFolder folder;
  const MadeSet coco = make_coco_set(folder / "coco", small_spec(), 1, {});
  const MadeSet yolo = make_yolo_set(folder / "yolo", small_spec(), 1, {});
  EXPECT_TRUE(coco.made);
  EXPECT_EQ(coco.files, 16 + 2);
  EXPECT_EQ(yolo.files, 16 + 16 + 1);
  for (const char* part : {"train", "val"}) {
    const DetectionSet a = read_coco_set(options_of(folder / "coco", part));
    const DetectionSet b = read_yolo_set(options_of(folder / "yolo", part));
    EXPECT_EQ(a.skipped.count(), 0);
    EXPECT_EQ(b.skipped.count(), 0);
    EXPECT_EQ(a.classes, b.classes);
    EXPECT_EQ(a.classes.size(), 5U);
    ASSERT_EQ(a.boxes.size(), b.boxes.size());
    EXPECT_GT(a.boxes.size(), 4U);
    for (std::size_t i = 0; i < a.boxes.size(); ++i) {
      EXPECT_NEAR(a.boxes[i].x, b.boxes[i].x, 1e-6);
      EXPECT_NEAR(a.boxes[i].height, b.boxes[i].height, 1e-6);
      EXPECT_EQ(a.boxes[i].label, b.boxes[i].label);
    }
    EXPECT_EQ(test::read_bytes(a.path(0)), test::read_bytes(b.path(0)));
  }
}

TEST(MakeDetection, TheSameOptionsGiveTheSameSetAndItIsKept) {
  const TemporaryFolder folder;
  const MadeSet first = make_yolo_set(folder / "a", small_spec(), 1, {});
  EXPECT_EQ(make_yolo_set(folder / "b", small_spec(), 1, {}).content_hash, first.content_hash);
  EXPECT_NE(make_yolo_set(folder / "c", small_spec(), 2, {}).content_hash, first.content_hash);
  EXPECT_FALSE(make_yolo_set(folder / "a", small_spec(), 1, {}).made);
}

TEST(CheckDetection, AMadeSetIsClean) {
  const TemporaryFolder folder;
  make_coco_set(folder / "coco", small_spec(), 1, {});
  make_yolo_set(folder / "yolo", small_spec(), 1, {});
  for (const SetCheck& check : {check_coco_set(folder / "coco"), check_yolo_set(folder / "yolo")}) {
    EXPECT_THAT(check.left_out, IsEmpty());
    EXPECT_THAT(check.warnings, IsEmpty());
    EXPECT_THAT(check.summary, HasSubstr("16 usable pictures"));
    EXPECT_THAT(check.summary, HasSubstr("in 5 classes"));
  }
}

TEST(CheckDetection, WhatIsWrongIsNamedWithPartAndLine) {
  const TemporaryFolder folder;
  make_yolo_set(folder / "yolo", small_spec(), 1, {});
  const auto picture = folder / "yolo/images/val/000000000002.jpg";
  test::write_bytes(picture, test::with_corrupt_scan(test::read_bytes(picture), 30));
  std::ofstream(folder / "yolo/labels/train/000000000003.txt") << "9 0.5 0.5 0.1 0.1\n";
  const SetCheck check = check_yolo_set(folder / "yolo");
  ASSERT_EQ(check.left_out.size(), 2U);
  EXPECT_EQ(check.left_out[0].item, "images/val/000000000002.jpg");
  EXPECT_EQ(check.left_out[0].reason, "damaged");
  EXPECT_EQ(check.left_out[1].item, "train: 000000000003.txt:1");
  EXPECT_EQ(check.left_out[1].reason, "class_out_of_range");
  ASSERT_EQ(check.warnings.size(), 1U);
  EXPECT_THAT(check.warnings[0], HasSubstr("falconbench_data.json"));
}

}  // namespace
}  // namespace falcon::data
