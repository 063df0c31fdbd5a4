#include "data/storage_probe.h"

#include <atomic>

#include <gtest/gtest.h>

#include "data/file_access.h"
#include "falconbench/spec_data.h"
#include "file_set.h"

namespace falcon::data {
namespace {

constexpr std::int64_t kBytes = 100000;
constexpr double kLong_s = 600;

ProbeSurroundings surroundings(std::atomic<int>& checks) {
  return {[] { return Measured<std::int64_t>::missing("not counted"); }, [&checks] { ++checks; }};
}

struct Set {
  test::TemporaryFolder folder;
  test::FileSet files{folder.path(), std::vector<std::size_t>(12, kBytes)};
};

TEST(StorageProbe, ReadsEveryFileOnceWhenNoBoundIsReached) {
  const Set set;
  std::atomic<int> checks{0};
  std::int64_t fetched = 0;
  ProbeSurroundings around = surroundings(checks);
  around.storage_bytes = [&] { return Measured<std::int64_t>(fetched += 500); };
  const StorageProbe probe = probe_storage(set.files, 3, {kLong_s, std::int64_t{1} << 40}, around);
  EXPECT_EQ(probe.io, direct_refusal(set.files.file(0)).empty() ? kDirectIo : kBufferedIo);
  for (const ReadTrial* trial : {&probe.sequential, &probe.random}) {
    EXPECT_EQ(trial->files, 12);
    EXPECT_EQ(trial->bytes, 12 * kBytes);
    EXPECT_EQ(trial->ended_by, "all files");
    EXPECT_EQ(*trial->storage_bytes, 500);
    EXPECT_GT(trial->time_s, 0);
    EXPECT_DOUBLE_EQ(trial->bytes_per_s, static_cast<double>(trial->bytes) / trial->time_s);
    EXPECT_DOUBLE_EQ(trial->files_per_s, 12 / trial->time_s);
    EXPECT_GT(trial->file_ms_p50, 0);
    EXPECT_GE(trial->file_ms_p99, trial->file_ms_p50);
  }
  EXPECT_EQ(probe.sequential.threads, 1);
  EXPECT_GE(checks, 24);
}

TEST(StorageProbe, BytesEndIt) {
  const Set set;
  std::atomic<int> checks{0};
  const StorageProbe probe =
      probe_storage(set.files, 1, {kLong_s, 3 * kBytes - 1}, surroundings(checks));
  EXPECT_EQ(probe.sequential.files, 3);
  EXPECT_EQ(probe.random.files, 3);
  EXPECT_EQ(probe.sequential.ended_by, "bytes");
  EXPECT_EQ(probe.sequential.storage_bytes.reason, "not counted");
}

TEST(StorageProbe, TimeEndsIt) {
  const Set set;
  std::atomic<int> checks{0};
  const StorageProbe probe = probe_storage(set.files, 2, {0, 1 << 30}, surroundings(checks));
  EXPECT_EQ(probe.sequential.files, 0);
  EXPECT_EQ(probe.random.ended_by, "time");
}

TEST(StorageProbe, AnInterruptPassesThrough) {
  const Set set;
  ProbeSurroundings around{[] { return Measured<std::int64_t>(0); },
                           [] { throw std::runtime_error("interrupted"); }};
  EXPECT_THROW(probe_storage(set.files, 2, ProbeBounds(), around), std::runtime_error);
}

}  // namespace
}  // namespace falcon::data
