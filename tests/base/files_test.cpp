#include "base/files.h"

#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace falcon::base {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Files : public testing::Test {
 protected:
  Files() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~Files() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t num_entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static std::string refusal(ExitCode code, const std::function<void()>& act) {
    try {
      act();
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      return error.what();
    }
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("falcon_files_" + std::to_string(::getpid()));
};

TEST_F(Files, WhatIsWrittenIsRead) {
  const std::string text = std::string("a\0b\r\n", 5) + std::string(200000, 'x');
  write_file_atomically(path("a.json"), text);
  EXPECT_EQ(read_file(path("a.json")), text);
  write_file_atomically(path("a.json"), "");
  EXPECT_EQ(read_file(path("a.json")), "");
  EXPECT_EQ(num_entries(), 1u) << "no temporary file stays";
}

TEST_F(Files, ReadingNamesTheFileAndTheReason) {
  EXPECT_EQ(refusal(ExitCode::kUsage, [&] { read_file(path("none")); }),
            path("none") + ": no such file");
  EXPECT_EQ(refusal(ExitCode::kUsage, [&] { read_file(folder_.string()); }),
            folder_.string() + ": is a directory, expected a file");
  write_file_atomically(path("big"), "123456");
  EXPECT_EQ(read_file(path("big"), ExitCode::kUsage, 6), "123456");
  EXPECT_EQ(refusal(ExitCode::kHost, [&] { read_file(path("big"), ExitCode::kHost, 5); }),
            path("big") + ": is larger than 5 bytes");
}

TEST_F(Files, ReadingAFileWithoutPermissionSaysSo) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  write_file_atomically(path("a"), "x");
  fs::permissions(path("a"), fs::perms::none);
  EXPECT_THAT(refusal(ExitCode::kUsage, [&] { read_file(path("a")); }),
              HasSubstr("Permission denied"));
}

TEST_F(Files, ReadingAPipeWorks) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer([&] { write_file_atomically(path("pipe"), "through"); });
  EXPECT_EQ(read_file(path("pipe")), "through");
  writer.join();
  EXPECT_TRUE(fs::is_fifo(path("pipe"))) << "a pipe is written to, not replaced";
}

TEST_F(Files, AFailedWriteLeavesTheOldFile) {
  fs::create_directories(path("sub/a"));
  const std::string text =
      refusal(ExitCode::kUnwritable, [&] { write_file_atomically(path("sub/a"), "new"); });
  EXPECT_EQ(text, path("sub/a") + ": cannot be written: is a directory");
  EXPECT_THAT(refusal(ExitCode::kUnwritable, [&] { write_file_atomically(path("no/a"), "new"); }),
              HasSubstr("No such file or directory"));
  EXPECT_THAT(refusal(ExitCode::kUnwritable, [&] { write_file_atomically("/dev/full", "new"); }),
              HasSubstr("No space left"));
}

TEST_F(Files, ADeviceIsWrittenToAndNotReplaced) {
  write_file_atomically("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Files, ALinkStaysALink) {
  write_file_atomically(path("real"), "old");
  fs::create_symlink("real", path("link"));
  write_file_atomically(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("real")), "new");
}

TEST_F(Files, ALongNameHasRoomForItsTemporaryFile) {
  const std::string name(250, 'n');
  write_file_atomically(path(name), "x");
  EXPECT_EQ(read_file(path(name)), "x");
}

TEST_F(Files, ReadersSeeTheOldFileOrTheNewOne) {
  const std::string texts[] = {std::string(100000, 'a'), std::string(50000, 'b')};
  write_file_atomically(path("f"), texts[0]);
  std::thread writer([&] {
    for (int i = 1; i <= 20; ++i) write_file_atomically(path("f"), texts[i % 2]);
  });
  for (int i = 0; i < 200; ++i) {
    const std::string seen = read_file(path("f"));
    EXPECT_TRUE(seen == texts[0] || seen == texts[1]) << seen.size();
  }
  writer.join();
}

}  // namespace
}  // namespace falcon::base
