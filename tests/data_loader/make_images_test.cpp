#include "data/make_images.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/check_images.h"
#include "data/image_folder_scan.h"
#include "data/jpeg_decoder.h"
#include "data_loader/picture_files.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

MakeImagesOptions small() {
  MakeImagesOptions options;
  options.train = 13;
  options.val = 5;
  options.classes = 4;
  options.side_min = 60;
  options.side_mean = 80;
  options.side_max = 120;
  return options;
}

void expect_refused(const fs::path& path, const MakeImagesOptions& options,
                    const std::string& part) {
  try {
    make_images(path, options);
    FAIL() << "accepted; expected: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(MakeImages, WhatIsMadeIsFoundWholeByTheCheck) {
  const test::TemporaryFolder folder;
  const fs::path set = folder / "some/where/set";
  const MadeSet made = make_images(set, small(), 2);
  EXPECT_TRUE(made.made);
  EXPECT_EQ(made.files, 18);
  const ImageFolderCheck check = check_images(set, 2);
  EXPECT_THAT(check.folders, ElementsAre("train", "val"));
  EXPECT_EQ(check.usable_files, 18);
  EXPECT_EQ(check.usable_bytes, made.bytes);
  EXPECT_EQ(check.classes, 4);
  EXPECT_THAT(check.left_out, IsEmpty());
  EXPECT_THAT(check.warnings, IsEmpty());
  EXPECT_EQ(scan_image_folder(set / "train", 1).files.size(), 13);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "some/where"), {}), 1);  // nothing beside
}

TEST(MakeImages, TheSameOptionsGiveTheSameBytes) {
  const test::TemporaryFolder folder;
  const std::string one = make_images(folder / "one", small(), 1).content_hash;
  EXPECT_EQ(make_images(folder / "three", small(), 3).content_hash, one);
  MakeImagesOptions other = small();
  other.seed = 1;
  EXPECT_NE(make_images(folder / "other", other, 2).content_hash, one);
}

TEST(MakeImages, ASecondCallDoesNothing) {
  const test::TemporaryFolder folder;
  const MadeSet first = make_images(folder / "set/", small());
  const auto written = fs::last_write_time(folder / "set" / kManifestName);
  const MadeSet second = make_images(folder / "set", small());
  EXPECT_FALSE(second.made);
  EXPECT_EQ(second.files, first.files);
  EXPECT_EQ(second.content_hash, first.content_hash);
  EXPECT_EQ(fs::last_write_time(folder / "set" / kManifestName), written);
}

TEST(MakeImages, RefusesAFolderWithAnythingElse) {
  const test::TemporaryFolder folder;
  test::write_bytes(folder / "mine/thesis.txt", {});
  expect_refused(folder / "mine", small(), "was not made by falconbench");
  EXPECT_TRUE(fs::exists(folder / "mine/thesis.txt"));
  expect_refused(folder / "mine/thesis.txt", small(), "is not a folder");
  make_images(folder / "set", small());
  MakeImagesOptions other = small();
  other.train = 14;
  expect_refused(folder / "set", other, "other options (imagefolder: train=13 val=5");
  fs::remove(folder / "set/train/class_00000/00000000.jpg");
  expect_refused(folder / "set", small(), "has changed since it was made: 17 files");
}

TEST(MakeImages, FillsAnEmptyFolder) {
  const test::TemporaryFolder folder;
  fs::create_directory(folder / "empty");
  EXPECT_TRUE(make_images(folder / "empty", small()).made);
}

TEST(MakeImages, RefusesOptionsOutOfRange) {
  const test::TemporaryFolder folder;
  const auto with = [](auto change) {
    MakeImagesOptions options = small();
    change(options);
    return options;
  };
  const fs::path set = folder / "set";
  expect_refused(set, with([](auto& o) { o.classes = 0; }), "classes");
  expect_refused(set, with([](auto& o) { o.train = 3; }), "train must be at least");
  expect_refused(set, with([](auto& o) { o.val = -1; }), "val");
  expect_refused(set, with([](auto& o) { o.side_mean = 50; }), "min <= mean");
  expect_refused(set, with([](auto& o) { o.quality = 101; }), "quality");
  EXPECT_FALSE(fs::exists(set));
}

TEST(MakeImages, DefaultPicturesHaveImageNetsSize) {
  const test::TemporaryFolder folder;
  MakeImagesOptions options;
  options.train = 40;
  options.val = 0;
  const MadeSet made = make_images(folder / "set", options, 2);
  const double mean_bytes = static_cast<double>(made.bytes) / static_cast<double>(made.files);
  EXPECT_GT(mean_bytes, 100e3);
  EXPECT_LT(mean_bytes, 120e3);
  const ImageFolderScan scan = scan_image_folder(folder / "set/train", 1);
  double longer_sides = 0;
  int upright = 0;
  for (std::int64_t i = 0; i < scan.files.size(); ++i) {
    JpegDecoder decoder;
    const std::vector<std::byte> file = test::read_bytes(scan.path(i));
    ASSERT_TRUE(decoder.open(file));
    longer_sides += std::max(decoder.width(), decoder.height());
    upright += decoder.height() > decoder.width() ? 1 : 0;
  }
  EXPECT_NEAR(longer_sides / 40, 500, 30);
  EXPECT_GT(upright, 3);
  EXPECT_LT(upright, 25);
}

TEST(CheckImages, ListsEveryDamagedFileWithItsReason) {
  const test::TemporaryFolder folder;
  make_images(folder / "set", small());
  const fs::path classes = folder / "set/train/class_00001";
  std::vector<std::byte> cut = test::make_jpeg({});
  cut.resize(cut.size() / 2);
  test::write_bytes(classes / "cut.jpg", cut);
  test::write_bytes(classes / "png.jpg", test::png_bytes());
  test::write_bytes(folder / "set/val/class_00001/zero.jpg", {});
  const ImageFolderCheck check = check_images(folder / "set", 2);
  EXPECT_EQ(check.usable_files, 18);
  ASSERT_EQ(check.left_out.size(), 3u);
  EXPECT_EQ(check.left_out[0].item, "train/class_00001/cut.jpg");
  EXPECT_EQ(check.left_out[0].reason, "damaged");
  EXPECT_EQ(check.left_out[1].reason, "not_jpeg");
  EXPECT_EQ(check.left_out[2].item, "val/class_00001/zero.jpg");
  EXPECT_EQ(check.left_out[2].reason, "empty");
}

TEST(CheckImages, WarnsOfChangedFilesAndOtherClasses) {
  const test::TemporaryFolder folder;
  make_images(folder / "set", small());
  const fs::path changed = folder / "set/train/class_00000/00000000.jpg";
  test::write_bytes(changed, test::make_jpeg({}));
  fs::create_directory(folder / "set/val/class_00009");
  EXPECT_THAT(check_images(folder / "set").warnings,
              ElementsAre(HasSubstr("val has other class folders"), HasSubstr(kManifestName)));
}

TEST(CheckImages, TakesClassFoldersThemselves) {
  const test::TemporaryFolder folder;
  test::write_picture_folder(folder.path(), 4);
  const ImageFolderCheck check = check_images(folder.path());
  EXPECT_THAT(check.folders, ElementsAre("."));
  EXPECT_EQ(check.usable_files, 4);
}

}  // namespace
}  // namespace falcon::data
