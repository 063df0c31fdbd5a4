// COCO annotation files and YOLO label folders: what is read, what is left out and why.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/coco_annotations.h"
#include "data/coco_set.h"
#include "data/yolo_labels.h"
#include "data/yolo_set.h"
#include "data_loader/picture_files.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {

using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

void write_picture(const std::filesystem::path& path, int width = 320, int height = 240) {
  test::write_bytes(path, test::make_jpeg({.width = width, .height = height}));
}

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

constexpr const char* kCategories =
    R"("categories":[{"id":18,"name":"dog"},{"id":1,"name":"person"}])";

// Pictures in images/train, the annotation file given.
class CocoFolder {
 public:
  explicit CocoFolder(const std::string& annotations) {
    write_text(folder_ / "annotations/instances_train.json", annotations);
    write_picture(folder_ / "images/train/one.jpg");
  }
  DatasetOptions options(bool evaluation = false) const {
    DatasetOptions options;
    options.format = "coco";
    options.path = folder_.path();
    options.subfolder = "train";
    options.classes = 80;
    options.evaluation = evaluation;
    return options;
  }
  DetectionSet read(bool evaluation = false) const { return read_coco_set(options(evaluation)); }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
};

std::string with_one_image(const std::string& annotations) {
  return R"({"images":[{"id":7,"file_name":"one.jpg","width":320,"height":240}],"annotations":[)" +
         annotations + "]," + kCategories + "}";
}

TEST(CocoSet, BoxesBecomeSharesAndCategoriesPlacesById) {
  const CocoFolder folder(with_one_image(
      R"({"id":1,"image_id":7,"category_id":18,"bbox":[32,24,160,120],"area":1,"iscrowd":0,)"
      R"("segmentation":[[1,2,3,4,5.5,6]]},)"
      R"({"id":2,"image_id":7,"category_id":1,"bbox":[-16,120,32,240]})"));
  const DetectionSet set = folder.read();
  EXPECT_THAT(set.classes, ElementsAre("person", "dog"));
  ASSERT_EQ(set.pictures.size(), 1U);
  EXPECT_THAT(set.boxes, ElementsAre(LabelledBox{0.35F, 0.35F, 0.5F, 0.5F, 1, false},
                                     LabelledBox{0.025F, 0.75F, 0.05F, 0.5F, 0, false}));
  EXPECT_EQ(set.skipped.count(), 0);
  EXPECT_GT(set.bytes, 1000);
}

TEST(CocoSet, AnnotationsMayComeBeforeTheImages) {
  const CocoFolder folder(
      std::string(R"({"annotations":[{"id":1,"image_id":7,"category_id":1,"bbox":[0,0,10,10]}],)") +
      kCategories + R"(,"images":[{"file_name":"one.jpg","id":7,"height":240,"width":320}]})");
  EXPECT_EQ(folder.read().boxes.size(), 1U);
}

TEST(CocoSet, FaultyRecordsAreCountedByReason) {
  const CocoFolder folder(
      R"({"images":[{"id":7,"file_name":"one.jpg","width":320,"height":240},)"
      R"({"id":7,"file_name":"one.jpg","width":320,"height":240},)"
      R"({"id":8,"file_name":"not_there.jpg","width":320,"height":240},)"
      R"({"id":9,"file_name":"../../one.jpg","width":320,"height":240},)"
      R"({"id":10,"file_name":"small.jpg","width":320,"height":240},)"
      R"({"id":11,"width":320,"height":240}],)"
      R"("annotations":[{"id":1,"image_id":7,"category_id":1,"bbox":[0,0,10,10]},)"
      R"({"id":2,"image_id":7,"category_id":1,"bbox":[0,0,10,10]},)"
      R"({"id":3,"image_id":7,"category_id":1,"bbox":[0,0,0,10]},)"
      R"({"id":4,"image_id":7,"category_id":999,"bbox":[0,0,10,10]},)"
      R"({"id":5,"image_id":70,"category_id":1,"bbox":[0,0,10,10]},)"
      R"({"id":6,"image_id":7,"category_id":1,"bbox":[320,0,10,10]},)"
      R"({"id":7,"image_id":7,"category_id":1,"bbox":[1,2,3]},)"
      R"({"id":8,"image_id":7,"category_id":1,"bbox":[0,0,9,9],"iscrowd":1},)"
      R"({"id":9,"image_id":8,"category_id":1,"bbox":[0,0,10,10]}],)" +
      std::string(kCategories) + "}");
  write_picture(folder.folder() / "images/train/small.jpg", 32, 24);
  const DetectionSet set = folder.read();
  EXPECT_EQ(set.pictures.size(), 1U);
  EXPECT_EQ(set.boxes.size(), 1U);
  EXPECT_THAT(
      set.skipped.counts(),
      ElementsAre(Pair("bad_name", 1), Pair("bad_record", 2), Pair("crowd", 1),
                  Pair("duplicate_box", 1), Pair("duplicate_image", 1), Pair("missing_image", 1),
                  Pair("no_area", 1), Pair("outside", 1), Pair("size_mismatch", 1),
                  Pair("unknown_category", 1), Pair("unknown_image", 1)));
}

TEST(CocoSet, AnEvaluationKeepsCrowdsMarkedAndBoxesThatAreThereTwice) {
  const CocoFolder folder(
      with_one_image(R"({"id":1,"image_id":7,"category_id":1,"bbox":[0,0,10,10]},)"
                     R"({"id":2,"image_id":7,"category_id":1,"bbox":[0,0,10,10]},)"
                     R"({"id":3,"image_id":7,"category_id":1,"bbox":[0,0,20,20],"iscrowd":1,)"
                     R"("segmentation":{"counts":[100,50],"size":[240,320]}})"));
  const DetectionSet set = folder.read(true);
  ASSERT_EQ(set.boxes.size(), 3U);
  EXPECT_TRUE(set.boxes[2].is_crowd);
  EXPECT_FALSE(set.boxes[1].is_crowd);
}

TEST(CocoSet, AFileThatIsNoAnnotationFileIsRefusedWithItsPlace) {
  const auto message = [](const std::string& text) {
    const CocoFolder folder(text);
    return error_of([&] { folder.read(); });
  };
  EXPECT_THAT(
      message("{\n \"images\": [\n  {\"id\": 1,"),
      HasSubstr("instances_train.json:3:12: ends in the middle of a value, after 26 bytes"));
  EXPECT_THAT(message("{\n \"images\": [}"), HasSubstr(":2:13: invalid JSON"));
  EXPECT_THAT(message(""), HasSubstr("is empty"));
  EXPECT_THAT(message("[1]"), HasSubstr("expected a map"));
  EXPECT_THAT(message("7"), HasSubstr("is no map"));
  EXPECT_THAT(message("{\"images\": 3}"), HasSubstr("images is no list"));
  EXPECT_THAT(message("{\"images\": {}}"), HasSubstr("images is no list"));
  EXPECT_THAT(message("{\"images\": []}"), HasSubstr("has no list annotations, categories"));
  EXPECT_THAT(message(with_one_image("") + "x"), HasSubstr("more text behind the document"));
  EXPECT_THAT(message(with_one_image(R"({"id":1e999})")), HasSubstr("beyond the range"));
  EXPECT_THAT(message("{\"images\":" + std::string(200'000, '[')), HasSubstr("ends in the middle"));
}

TEST(CocoSet, WithoutAUsablePictureItIsRefusedWithTheReasons) {
  const CocoFolder folder(
      R"({"images":[{"id":7,"file_name":"gone.jpg","width":320,"height":240}],"annotations":[],)" +
      std::string(kCategories) + "}");
  EXPECT_THAT(error_of([&] { folder.read(); }), HasSubstr("1 missing_image"));
  DatasetOptions elsewhere = folder.options();
  elsewhere.annotations = "annotations/other.json";
  EXPECT_THAT(error_of([&] { read_coco_set(elsewhere); }), HasSubstr("other.json: No such file"));
}

TEST(CocoSet, MoreCategoriesThanTheModelHasClassesIsAnError) {
  const CocoFolder folder(with_one_image(""));
  DatasetOptions options = folder.options();
  options.classes = 1;
  EXPECT_THAT(error_of([&] { read_coco_set(options); }), HasSubstr("it has 2 classes"));
}

TEST(CocoSet, LabelsOfAnEvaluationAreThoseOfTheTrainingCategories) {
  const CocoFolder folder(with_one_image(""));  // person and dog
  write_picture(folder.folder() / "images/val/one.jpg");
  const auto read = [&](const std::string& categories) {
    write_text(folder.folder() / "annotations/instances_val.json",
               R"({"images":[{"id":7,"file_name":"one.jpg","width":320,"height":240}],)"
               R"("annotations":[{"id":1,"image_id":7,"category_id":18,"bbox":[0,0,9,9]}],)"
               R"("categories":[)" +
                   categories + "]}");
    DatasetOptions options = folder.options(true);
    options.subfolder = "val";
    options.class_annotations = "annotations/instances_train.json";
    return read_coco_set(options);
  };
  const DetectionSet set = read(R"({"id":18,"name":"dog"})");
  EXPECT_THAT(set.classes, ElementsAre("person", "dog"));
  EXPECT_EQ(set.boxes.at(0).label, 1);
  EXPECT_THAT(error_of([&] { read(R"({"id":18,"name":"dog"},{"id":19,"name":"horse"})"); }),
              HasSubstr("instances_val.json: its category 19 (horse) is not one of "));
  EXPECT_THAT(error_of([&] { read(R"({"id":18,"name":"cat"})"); }),
              HasSubstr("instances_train.json, where it is dog"));
}

YoloLabels parse(const std::string& text, std::int64_t classes = 80) {
  return parse_yolo_labels(text, "labels/one.txt", classes);
}

TEST(YoloLabels, BoxesPolygonsMarksAndLineEndsAreRead) {
  EXPECT_THAT(parse("\xEF\xBB\xBF"
                    "0 0.5 0.5 0.25 0.25\r\n\r\n2 0.25 .25 1e-1 0.1\r\n")
                  .boxes,
              ElementsAre(LabelledBox{0.5F, 0.5F, 0.25F, 0.25F, 0},
                          LabelledBox{0.25F, 0.25F, 0.1F, 0.1F, 2}));
  EXPECT_THAT(parse("3 0.1 0.1 0.5 0.1 0.5 0.6 0.1 0.6").boxes,
              ElementsAre(LabelledBox{0.3F, 0.35F, 0.4F, 0.5F, 3}));
  EXPECT_TRUE(parse("").boxes.empty());
  // cut at the edge
  EXPECT_THAT(parse("1 0.0 0.5 0.5 0.5").boxes,
              ElementsAre(LabelledBox{0.125F, 0.5F, 0.25F, 0.5F, 1}));
}

TEST(YoloLabels, FaultyLinesAreNamedWithFileLineAndRange) {
  const YoloLabels labels = parse("0 0.5 0.5 0.2 0.2\n80 0.5 0.5 0.2 0.2\n");
  EXPECT_EQ(labels.boxes.size(), 1U);
  ASSERT_EQ(labels.skipped.size(), 1U);
  EXPECT_EQ(labels.skipped[0].item, "labels/one.txt:2");
  EXPECT_THAT(labels.skipped[0].detail, HasSubstr("class 80; accepted: 0..79"));
}

TEST(YoloLabels, EveryFaultHasItsReason) {
  const auto reason = [](const std::string& line) {
    const YoloLabels labels = parse(line);
    EXPECT_TRUE(labels.boxes.empty()) << line;
    return labels.skipped.empty() ? std::string() : labels.skipped[0].reason;
  };
  EXPECT_EQ(reason("1 0.5 0.5 0.2"), "columns");
  EXPECT_EQ(reason("1 0.5 0.5 0.2 0.2 0.9"), "columns");
  EXPECT_EQ(reason("1 nan 0.5 0.2 0.2"), "not_finite");
  EXPECT_EQ(reason("1 0.5 inf 0.2 0.2"), "not_finite");
  EXPECT_EQ(reason("1 0.5 1e999 0.2 0.2"), "not_finite");
  EXPECT_EQ(reason("cat 0.5 0.5 0.2 0.2"), "not_a_number");
  EXPECT_EQ(reason("1 0,5 0.5 0.2 0.2"), "not_a_number");
  EXPECT_EQ(reason("-1 0.5 0.5 0.2 0.2"), "class_out_of_range");
  EXPECT_EQ(reason("1.5 0.5 0.5 0.2 0.2"), "class_out_of_range");
  EXPECT_EQ(reason("1 320 240 100 80"), "out_of_range");
  EXPECT_EQ(reason("1 0.5 0.5 -0.2 0.2"), "out_of_range");
  EXPECT_EQ(reason("1 0.5 0.5 0 0.2"), "no_area");
  EXPECT_EQ(parse("4 .5 .5 .2 .2\n4 .5 .5 .2 .2\n5 .5 .5 .2 .2").boxes.size(), 2U);
  EXPECT_EQ(parse("4 .5 .5 .2 .2\n4 .5 .5 .2 .2").skipped[0].reason, "duplicate_box");
}

DatasetOptions yolo_options(const TemporaryFolder& folder) {
  DatasetOptions options;
  options.format = "yolo";
  options.path = folder.path();
  options.subfolder = "train";
  options.classes = 80;
  return options;
}

TEST(YoloSet, BackgroundsAndLabelsWithoutPictureAreCounted) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b", "deep/c"}) {
    write_picture(folder.path() / "images/train" / (std::string(name) + ".jpg"));
  }
  write_text(folder / "images/train/d.png", "png");
  write_text(folder / "images/train/e.jpg", "no jpeg");
  write_text(folder / "labels/train/a.txt", "0 0.5 0.5 0.2 0.2\n");
  write_text(folder / "labels/train/deep/c.txt", "1 0.5 0.5 0.2 0.2\n7 .5 .5 .1 .1\n");
  write_text(folder / "labels/train/gone.txt", "0 0.5 0.5 0.2 0.2\n");
  write_text(folder / "data.yaml", "train: images/train\nnc: 3\nnames: [cat, dog, bird]\n");
  const DetectionSet set = read_yolo_set(yolo_options(folder));
  EXPECT_THAT(set.classes, ElementsAre("cat", "dog", "bird"));
  ASSERT_EQ(set.pictures.size(), 3U);
  EXPECT_EQ(set.pictures[2].name, "deep/c.jpg");
  EXPECT_EQ(set.boxes_of(0).size(), 1U);
  EXPECT_TRUE(set.boxes_of(1).empty());
  EXPECT_EQ(set.boxes_of(2)[0].label, 1);
  EXPECT_THAT(set.skipped.counts(),
              ElementsAre(Pair("class_out_of_range", 1), Pair("missing_image", 1),
                          Pair("not_jpeg", 1), Pair("other_format", 1)));
}

TEST(YoloSet, TheOtherLayoutsAreFoundToo) {
  const TemporaryFolder by_part;
  write_picture(by_part / "train/images/a.jpg");
  write_text(by_part / "train/labels/a.txt", "0 0.5 0.5 0.2 0.2\n");
  EXPECT_EQ(read_yolo_set(yolo_options(by_part)).boxes.size(), 1U);
  const TemporaryFolder flat;
  write_picture(flat / "images/a.jpg");
  write_text(flat / "labels/a.txt", "79 0.5 0.5 0.2 0.2\n");
  const DetectionSet set = read_yolo_set(yolo_options(flat));
  EXPECT_EQ(set.boxes.size(), 1U);
  EXPECT_EQ(set.classes.size(), 80U);  // the model's: nothing names them
  const TemporaryFolder empty;
  EXPECT_THAT(error_of([&] { read_yolo_set(yolo_options(empty)); }),
              HasSubstr("accepted: images/train, train/images or images"));
}

TEST(YoloSet, AnEvaluationTakesNoOtherPart) {
  const TemporaryFolder folder;
  write_picture(folder / "images/train/a.jpg");
  DatasetOptions options = yolo_options(folder);
  options.subfolder = "val";
  options.evaluation = true;
  EXPECT_THAT(error_of([&] { read_yolo_set(options); }),
              HasSubstr("accepted: images/val or val/images"));
  write_picture(folder / "images/val/b.jpg");
  EXPECT_EQ(read_yolo_set(options).pictures.at(0).name, "b.jpg");
}

TEST(YoloSet, ADataYamlThatCannotBeUsedIsRefusedWithItsPlace) {
  const auto message = [](const std::string& yaml) {
    const TemporaryFolder folder;
    write_picture(folder / "images/train/a.jpg");
    write_text(folder / "data.yaml", yaml);
    return error_of([&] { read_yolo_set(yolo_options(folder)); });
  };
  EXPECT_THAT(message("nc: 3\nnames: [a, b]\n"),
              HasSubstr("data.yaml:1:5: nc: is 3, but there are 2 names"));
  EXPECT_THAT(message("nc: x\n"), HasSubstr("nc: is no number of classes"));
  EXPECT_THAT(message("names: {0: a, 2: b}\n"), HasSubstr("expected the class 1 here"));
  EXPECT_THAT(message("train: x\n"), HasSubstr("neither names nor nc"));
  EXPECT_EQ(message("names: {0: a, 1: b}\n"), "no error");
}

}  // namespace
}  // namespace falcon::data
