// The damaged pictures and odd names that are handed out with expectations (INDEX.tsv), where they
// are at hand. The same kinds, made here, are in the other tests.
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/check_images.h"
#include "data/image_folder.h"
#include "data/jpeg_decoder.h"
#include "data_loader/picture_files.h"

namespace falcon::data {
namespace {

namespace fs = std::filesystem;

class BadPictures : public testing::Test {
 protected:
  void SetUp() override {
    bad_ = test::outside_data("bad");
    if (!bad_) GTEST_SKIP() << "the damaged inputs are not here: FALCONBENCH_DATA_DIR";
  }
  std::optional<fs::path> bad_;
};

TEST_F(BadPictures, AreUsedAndLeftOutAsTheIndexSays) {
  const std::map<std::string, std::string> reasons = {
      {"cut_after_header.JPEG", "damaged"}, {"cut_mid_scan.JPEG", "damaged"},
      {"corrupt_scan.JPEG", "damaged"},     {"png_named.JPEG", "not_jpeg"},
      {"zero_bytes.JPEG", "empty"},         {"sixteen_bit.png", "other_format"},
      {"huge_header.JPEG", "too_large"}};
  const test::TemporaryFolder folder;
  fs::create_directories(folder / "a");
  std::set<std::string> expected_out;
  std::int64_t expected_used = 0;
  std::ifstream index(*bad_ / "INDEX.tsv");
  for (std::string line; std::getline(index, line);) {
    if (!line.starts_with("images/")) continue;
    const std::size_t tab = line.find('\t');
    const std::string name = line.substr(7, tab - 7);
    fs::copy_file(*bad_ / "images" / name, folder / ("a/" + name));
    if (line.find("\tSKIP\t") != std::string::npos) {
      expected_out.insert("a/" + name);
    } else {
      ++expected_used;
    }
  }
  const ImageFolderCheck check = check_images(folder.path());
  std::set<std::string> out;
  for (const SkippedItem& item : check.left_out) {
    out.insert(item.item);
    const auto reason = reasons.find(item.item.substr(2));
    if (reason != reasons.end()) {
      EXPECT_EQ(item.reason, reason->second) << item.item << ": " << item.detail;
    }
  }
  EXPECT_EQ(out, expected_out);
  EXPECT_EQ(check.usable_files, expected_used);
  EXPECT_GT(expected_used, 0);
}

TEST_F(BadPictures, CmykAndBadExifHaveTheRightColours) {
  for (const auto& [name, means] : {std::pair("cmyk.JPEG", std::array{125.59, 123.63, 107.64}),
                                    {"exif_garbage.JPEG", std::array{125.51, 123.63, 107.67}}}) {
    int width = 0;
    int height = 0;
    DecodeProblem problem;
    const std::vector<std::uint8_t> rgb =
        decode_rgb(test::read_bytes(*bad_ / "images" / name), width, height, problem);
    ASSERT_FALSE(rgb.empty()) << problem.detail;
    double sums[3] = {};
    for (std::size_t i = 0; i < rgb.size(); ++i) sums[i % 3] += rgb[i];
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(3 * sums[c] / static_cast<double>(rgb.size()), means[c], 0.01) << name;
    }
  }
}

TEST_F(BadPictures, OddNamesAndLinksEndTheScanAndAreCounted) {
  const test::TemporaryFolder folder;
  const std::string command =
      "bash '" + (*bad_ / "make_odd.sh").native() + "' '" + (folder / "odd").native() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  DatasetOptions options;
  options.path = folder / "odd";
  options.subfolder = "train";
  const ImageFolder set(options);
  EXPECT_EQ(set.size(), 5);
  EXPECT_THAT(set.scan().classes, testing::ElementsAre("a", "b", "empty class"));
  const std::map<std::string, std::int64_t> expected = {
      {"folder", 1}, {"loop", 1}, {"folder_link", 1}, {"dangling", 1}, {"no_pictures", 1}};
  EXPECT_EQ(set.skip_counts_at_scan(), expected);
}

}  // namespace
}  // namespace falcon::data
