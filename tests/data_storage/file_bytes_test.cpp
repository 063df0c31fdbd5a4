#include "data/file_bytes.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "falconbench/spec_data.h"
#include "file_set.h"

namespace falcon::data {
namespace {

using testing::HasSubstr;

// Around blocks of O_DIRECT, pieces of io_uring, and more pieces than are in flight at once.
const std::vector<std::size_t> kSizes = {
    0, 1, 4095, 4096, 4097, 128 * 1024, 128 * 1024 + 1, 1000000, 17 * 128 * 1024 + 7, 5000000};

std::string text_of(const FileBytes& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

class EachWay : public testing::TestWithParam<const char*> {};

TEST_P(EachWay, GivesTheSameBytesAlsoWhenMemoryIsUsedAgain) {
  test::TemporaryFolder folder;
  const test::FileSet set(folder.path(), kSizes);
  const FileAccess access(GetParam(), set.file(3));
  FileBytes file;
  std::vector<std::size_t> order(kSizes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i * 7 % order.size();
  for (const std::size_t i : order) {
    std::string problem;
    ASSERT_TRUE(file.read(set.file(static_cast<std::int64_t>(i)), problem, access)) << problem;
    EXPECT_EQ(file.file_size(), kSizes[i]);
    EXPECT_TRUE(text_of(file) == test::content_of(kSizes[i], static_cast<unsigned>(i)))
        << kSizes[i];
  }
  const FileReading reading = access.reading();
  if (reading.fallback.empty()) {
    EXPECT_EQ(reading.used, GetParam());
  } else {
    EXPECT_EQ(reading.used, kBufferedIo) << reading.fallback;
  }
}

TEST_P(EachWay, WhatIsNoFileIsNamed) {
  test::TemporaryFolder folder;
  const test::FileSet set(folder.path(), {100});
  const FileAccess access(GetParam(), set.file(0));
  FileBytes file;
  std::string problem;
  EXPECT_FALSE(file.read(folder / "absent", problem, access));
  EXPECT_EQ(problem, "No such file or directory");
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(file.read(folder / "pipe", problem, access));
  EXPECT_THAT(problem, testing::AnyOf("is no regular file", "Invalid argument"));
}

INSTANTIATE_TEST_SUITE_P(FileBytes, EachWay, testing::Values(kBufferedIo, kDirectIo, kUringIo));

TEST(FileBytes, ReadsNoMoreThanTheLimit) {
  test::TemporaryFolder folder;
  const test::FileSet set(folder.path(), {10000});
  FileBytes file;
  std::string problem;
  ASSERT_TRUE(file.read(set.file(0), problem, std::size_t{4096}));
  EXPECT_EQ(file.bytes().size(), 4096U);
  EXPECT_EQ(file.file_size(), 10000U);
}

TEST(FileAccess, FilesInMemoryAreNotReadPastTheCache) {
  const std::filesystem::path place = "/dev/shm/falconbench-test-" + std::to_string(getpid());
  std::error_code error;
  std::filesystem::create_directory(place, error);
  if (error) GTEST_SKIP() << "/dev/shm cannot be written: " << error.message();
  const test::FileSet set(place, {5000});
  const FileAccess access(kDirectIo, set.file(0));
  std::filesystem::remove_all(place);
  EXPECT_EQ(access.io(), FileIo::kBuffered);
  EXPECT_EQ(access.reading().used, kBufferedIo);
  EXPECT_THAT(access.reading().fallback, HasSubstr("memory"));
}

TEST(FileAccess, FallbacksAreCountedAndTheFirstIsTold) {
  const FileAccess access;
  EXPECT_EQ(access.reading().fallback, "");
  access.note_fallback("one");
  access.note_fallback("other");
  EXPECT_EQ(access.reading().fallback, "2 reads were buffered: one");
}

/// No more than so many open files while it lives.
class FileLimit {
 public:
  explicit FileLimit(rlim_t most) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit now{most, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &now);
  }
  ~FileLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
};

TEST(FileAccess, ARefusedRingIsReadBufferedWithTheReason) {
  test::TemporaryFolder folder;
  const test::FileSet set(folder.path(), {300000});
  const int next = dup(0);  // the number that the next file would get
  ASSERT_GE(next, 0);
  close(next);
  const FileAccess good(kUringIo, set.file(0));
  FileBytes file;
  std::string problem;
  {
    const FileLimit one_more(static_cast<rlim_t>(next) + 1);
    const int taken = dup(0);
    const FileAccess refused(kUringIo, set.file(0));
    close(taken);
    EXPECT_EQ(refused.io(), FileIo::kBuffered);
    EXPECT_THAT(refused.reading().fallback, HasSubstr("io_uring is refused"));
    ASSERT_TRUE(file.read(set.file(0), problem, good)) << problem;
  }
  EXPECT_TRUE(text_of(file) == test::content_of(300000, 0));
  if (good.io() == FileIo::kUring) {
    EXPECT_THAT(good.reading().fallback, HasSubstr("1 reads were buffered: io_uring is refused"));
  }
}

TEST(UringReader, AFileThatEndsEarlyAndOneThatCannotBeRead) {
  std::string refusal;
  const std::unique_ptr<UringReader> ring = UringReader::make(refusal);
  if (ring == nullptr) GTEST_SKIP() << refusal;
  test::TemporaryFolder folder;
  const std::size_t size = 3 * 128 * 1024 + 50;
  const test::FileSet set(folder.path(), {size});
  std::vector<std::byte> memory(4000000);
  const int readable = open(set.file(0).c_str(), O_RDONLY | O_CLOEXEC);
  const UringRead shorter = ring->read(readable, memory);
  close(readable);
  EXPECT_EQ(shorter.error, 0);
  EXPECT_EQ(shorter.bytes, size);
  const std::string content = test::content_of(size, 0);
  EXPECT_TRUE(
      std::equal(content.begin(), content.end(), reinterpret_cast<const char*>(memory.data())));
  const int unreadable = open(set.file(0).c_str(), O_WRONLY | O_CLOEXEC);
  EXPECT_EQ(ring->read(unreadable, memory).error, EBADF);
  close(unreadable);
  const int again = open(set.file(0).c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(ring->read(again, memory).bytes, size);
  close(again);
}

}  // namespace
}  // namespace falcon::data
