#include "data/image_folder.h"

#include <array>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "data_loader/picture_files.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::set<std::string> items_of(const ImageFolderScan& scan) {
  std::set<std::string> items;
  for (std::int64_t i = 0; i < scan.files.size(); ++i) items.insert(scan.item(i));
  return items;
}

std::map<std::string, std::string> reasons_of(const ImageFolderScan& scan) {
  std::map<std::string, std::string> reasons;
  for (const SkippedItem& item : scan.skipped) reasons[item.item] = item.reason;
  return reasons;
}

TEST(ImageFolderScan, TakesJpegNamesInAnyCaseAndSortsClassesByBytes) {
  const test::TemporaryFolder folder;
  const std::vector<std::byte> picture = test::make_jpeg({});
  for (const char* item : {"b/2.JPEG", "b/1.jpg", "B/x.Jpg", "a/deep/er/y.jpeg"}) {
    test::write_bytes(folder / item, picture);
  }
  test::write_bytes(folder / "README.txt", picture);
  test::write_bytes(folder / "a/notes.txt", picture);
  const ImageFolderScan scan = scan_image_folder(folder.path(), 2);
  EXPECT_THAT(scan.classes, ElementsAre("B", "a", "b"));
  EXPECT_THAT(items_of(scan), ElementsAre("B/x.Jpg", "a/deep/er/y.jpeg", "b/1.jpg", "b/2.JPEG"));
  EXPECT_EQ(scan.files.label(0), 0);
  EXPECT_EQ(scan.files.label(3), 2);
  EXPECT_EQ(scan.item(2), "b/1.jpg");
  EXPECT_EQ(scan.bytes, static_cast<std::int64_t>(4 * picture.size()));
  EXPECT_EQ(scan.other_files, 1);
  EXPECT_TRUE(scan.skipped.empty());
}

// What make_odd.sh of the damaged inputs makes, and more of its kind.
TEST(ImageFolderScan, OddNamesAreUsedAndOddThingsAreCountedByReason) {
  const test::TemporaryFolder folder;
  const std::vector<std::byte> picture = test::make_jpeg({});
  const fs::path train = folder / "train";
  const std::set<std::string> usable = {"a/plain.JPEG",
                                        "a/with space.JPEG",
                                        "a/gr\xC3\xBC\xC3\x9F"
                                        "e.JPEG",
                                        "a/new\nline.JPEG",
                                        "a/link.jpg",
                                        "b/plain.JPEG"};
  for (const std::string& item : usable) {
    if (item != "a/link.jpg") test::write_bytes(train / item, picture);
  }
  fs::create_symlink("plain.JPEG", train / "a/link.jpg");
  fs::create_directory(train / "a/folder.JPEG");
  fs::create_directory(train / "empty class");
  fs::create_symlink("loop.JPEG", train / "a/loop.JPEG");
  fs::create_symlink("../..", train / "b/up");
  fs::create_symlink("..", train / "up_class");
  fs::create_symlink("/nonexistent", train / "b/dangling.JPEG");
  test::write_bytes(train / "b/zero.jpg", {});
  test::write_bytes(train / "b/png.jpg", test::png_bytes());
  test::write_bytes(train / "b/huge.jpg", test::huge_jpeg());
  test::write_bytes(train / "b/real.png", test::png_bytes());
  ASSERT_EQ(mkfifo((train / "b/pipe.jpg").c_str(), 0600), 0);
  const ImageFolderScan scan = scan_image_folder(train, 2);
  EXPECT_EQ(items_of(scan), usable);
  EXPECT_THAT(scan.classes, ElementsAre("a", "b", "empty class"));
  const std::map<std::string, std::string> expected = {
      {"a/folder.JPEG", "folder"},     {"a/loop.JPEG", "loop"},
      {"b/up", "folder_link"},         {"up_class", "loop"},
      {"b/zero.jpg", "empty"},         {"b/png.jpg", "not_jpeg"},
      {"b/dangling.JPEG", "dangling"}, {"b/huge.jpg", "too_large"},
      {"b/real.png", "other_format"},  {"empty class", "no_pictures"},
      {"b/pipe.jpg", "not_a_file"}};
  EXPECT_EQ(reasons_of(scan), expected);
}

void expect_error(const DatasetOptions& options, ExitCode code, const std::string& part) {
  try {
    const ImageFolder set(options);
    FAIL() << "accepted; expected: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(ImageFolder, RefusesAFolderThatCannotBeUsed) {
  const test::TemporaryFolder folder;
  DatasetOptions options;
  options.path = folder / "nowhere";
  expect_error(options, ExitCode::kHost, "does not exist");
  options.path = folder.path();
  expect_error(options, ExitCode::kHost, "no class folder");
  test::write_bytes(folder / "a/zero.jpg", {});
  test::write_bytes(folder / "a/png.jpg", test::png_bytes());
  expect_error(options, ExitCode::kHost, "no usable JPEG file in 1 class folders");
  expect_error(options, ExitCode::kHost, "1 empty, 1 no_pictures, 1 not_jpeg");
  test::write_picture_folder(folder.path(), 3);
  options.classes = 3;
  expect_error(options, ExitCode::kUsage, "4 class folders, but the model has 3");
}

struct Sample {
  std::vector<std::byte> image;
  std::int64_t label = -1;
  std::byte flip{9};
  bool good = false;
  SkippedItem skipped;
};

Sample read(const ImageFolder& set, const SampleKey& key) {
  Sample s;
  s.image.resize(set.layout()[0].sample_bytes());
  const std::array<std::byte*, 3> destinations = {s.image.data(),
                                                  reinterpret_cast<std::byte*>(&s.label), &s.flip};
  const auto scratch = set.make_scratch();
  ReadCost cost;
  s.good = set.read(key, destinations, *scratch, cost, s.skipped);
  EXPECT_GE(cost.io_s, 0);
  return s;
}

TEST(ImageFolder, AugmentationComesFromSeedEpochAndIndexOnly) {
  const test::TemporaryFolder folder;
  test::write_picture_folder(folder.path(), 6);
  DatasetOptions options;
  options.path = folder.path();
  options.image_size = 48;
  const ImageFolder set(options);
  const ImageFolder another(options);
  EXPECT_EQ(set.size(), 6);
  const Sample first = read(set, {1, 0, 2});
  EXPECT_EQ(first.image, read(set, {1, 0, 2}).image);  // the second read stops below the crop
  EXPECT_EQ(first.image, read(another, {1, 0, 2}).image);
  EXPECT_NE(first.image, read(set, {1, 1, 2}).image);
  EXPECT_NE(first.image, read(set, {2, 0, 2}).image);
  int flips = 0;
  for (std::int64_t epoch = 0; epoch < 100; ++epoch) {
    flips += std::to_integer<int>(read(set, {1, epoch, 3}).flip);
  }
  EXPECT_GT(flips, 25);
  EXPECT_LT(flips, 75);
  EXPECT_EQ(read(set, {1, 0, 0}).label, 0);
  EXPECT_EQ(read(set, {1, 0, 5}).label, 2);
}

TEST(ImageFolder, EvaluationReadsTheSamePictureInEveryEpoch) {
  const test::TemporaryFolder folder;
  test::write_picture_folder(folder.path(), 3);
  DatasetOptions options;
  options.path = folder.path();
  options.image_size = 32;
  options.evaluation = true;
  const ImageFolder set(options);
  EXPECT_EQ(set.layout().size(), 2u);
  EXPECT_EQ(read(set, {1, 0, 1}).image, read(set, {7, 3, 1}).image);
}

TEST(ImageFolder, ADamagedFileIsNamedAtItsFirstReadWhateverTheCrop) {
  const test::TemporaryFolder folder;
  std::vector<std::byte> cut = test::make_jpeg({});
  cut.resize(cut.size() * 9 / 10);
  test::write_bytes(folder / "a/cut.jpg", cut);
  DatasetOptions options;
  options.path = folder.path();
  for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
    const ImageFolder set(options);
    const Sample s = read(set, {1, epoch, 0});
    EXPECT_FALSE(s.good);
    EXPECT_EQ(s.skipped.item, "a/cut.jpg");
    EXPECT_EQ(s.skipped.reason, "damaged");
  }
}

TEST(ImageFolder, AFileThatVanishedIsUnreadable) {
  const test::TemporaryFolder folder;
  test::write_picture_folder(folder.path(), 1);
  DatasetOptions options;
  options.path = folder.path();
  const ImageFolder set(options);
  fs::remove(set.scan().path(0));
  const Sample s = read(set, {1, 0, 0});
  EXPECT_FALSE(s.good);
  EXPECT_EQ(s.skipped.reason, "unreadable");
  EXPECT_THAT(s.skipped.detail, HasSubstr("No such file"));
}

TEST(ImageFolder, ValidationSamplesHaveTheLabelsOfTheTrainingClasses) {
  const test::TemporaryFolder folder;
  const std::vector<std::byte> picture = test::make_jpeg({});
  for (const char* item : {"train/a/1.jpg", "train/b/1.jpg", "train/c/1.jpg", "val/c/2.jpg"}) {
    test::write_bytes(folder / item, picture);
  }
  DatasetOptions options;
  options.path = folder.path();
  options.subfolder = "val";
  options.class_subfolder = "train";
  options.image_size = 32;
  options.evaluation = true;
  const ImageFolder set(options);
  ASSERT_EQ(set.size(), 1);
  std::vector<std::byte> image(32 * 32 * 3);
  std::int64_t label = -1;
  const std::array<std::byte*, 2> places = {image.data(), reinterpret_cast<std::byte*>(&label)};
  ReadCost cost;
  SkippedItem skipped;
  const auto scratch = set.make_scratch();
  ASSERT_TRUE(set.read({1, 0, 0}, places, *scratch, cost, skipped)) << skipped.detail;
  EXPECT_EQ(label, 2);
  test::write_bytes(folder / "val/d/2.jpg", picture);
  try {
    const ImageFolder other(options);
    FAIL() << "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kHost);
    EXPECT_THAT(error.what(), HasSubstr("class folder d is none of"));
  }
}

}  // namespace
}  // namespace falcon::data
