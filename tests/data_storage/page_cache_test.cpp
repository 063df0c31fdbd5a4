#include "data/page_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/file_access.h"
#include "file_set.h"

namespace falcon::data {
namespace {

constexpr std::size_t kBytes = 1 << 20;

struct Set {
  test::TemporaryFolder folder;
  test::FileSet files{folder.path(), std::vector<std::size_t>(6, kBytes)};
  std::vector<std::filesystem::path> sample = sample_files(files, 100);
};

TEST(PageCache, IsFilledAndDropped) {
  const Set set;
  if (direct_refusal(set.files.file(0)).find("memory") != std::string::npos) {
    GTEST_SKIP() << "the folder for temporary files lies in memory";
  }
  const auto nothing = [] {};
  EXPECT_EQ(read_through(set.files, 2, nothing), 6 * static_cast<std::int64_t>(kBytes));
  const Residency full = residency(set.sample);
  ASSERT_TRUE(full.pct.has_value()) << full.pct.reason;
  EXPECT_DOUBLE_EQ(*full.pct, 100);
  EXPECT_EQ(full.bytes, 6 * static_cast<std::int64_t>(kBytes));
  EXPECT_EQ(drop_from_cache(set.files, 2), "");
  EXPECT_LE(*residency(set.sample).pct, 1);
}

TEST(PageCache, ASampleIsEvenlySpread) {
  const Set set;
  const auto two = sample_files(set.files, 2);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0], set.files.file(0));
  EXPECT_EQ(two[1], set.files.file(3));
  EXPECT_EQ(set.sample.size(), 6U);
}

TEST(PageCache, WhatIsGoneIsLeftOutAndNothingIsUnknown) {
  const Set set;
  std::filesystem::remove(set.files.file(2));
  EXPECT_EQ(residency(set.sample).bytes, 5 * static_cast<std::int64_t>(kBytes));
  EXPECT_THAT(drop_from_cache(set.files, 1), testing::HasSubstr("No such file"));
  EXPECT_EQ(residency({}).pct.reason, "there is no file to look at");
}

TEST(PageCache, ReadingThroughIsBrokenOff) {
  const Set set;
  const auto refuse = [] { throw std::runtime_error("enough"); };
  EXPECT_THROW(read_through(set.files, 2, refuse), std::runtime_error);
}

}  // namespace
}  // namespace falcon::data
