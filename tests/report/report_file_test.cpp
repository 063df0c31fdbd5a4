#include "report/report_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "falconbench/errors.h"
#include "made_run.h"

namespace falcon::report {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ReportFileTest : public testing::Test {
 protected:
  ReportFileTest() {
    std::string name = (fs::temp_directory_path() / "falcon-report-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~ReportFileTest() override {
    std::error_code error;
    fs::permissions(folder_, fs::perms::owner_all, error);
    fs::remove_all(folder_, error);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t num_files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static std::string refusal(const std::string& path) {
    try {
      ReportFile file(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUnwritable);
      return error.what();
    }
    return "accepted";
  }
  fs::path folder_;
};

TEST_F(ReportFileTest, MakesFoldersAndLeavesNothingBeforeTheEnd) {
  const ReportFile file(path("a/b/report.json"));
  EXPECT_TRUE(fs::is_empty(folder_ / "a/b"));
  const MadeRun run;
  file.write(run.report());
  EXPECT_EQ(base::read_file(path("a/b/report.json")), to_text(run.report()));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "a/b"), fs::directory_iterator()), 1);
}

TEST_F(ReportFileTest, AnExistingReportStaysUntilTheEnd) {
  std::ofstream(path("report.json")) << "old";
  const ReportFile file(path("report.json"));
  EXPECT_EQ(base::read_file(path("report.json")), "old");
  file.write(MadeRun().report());
  EXPECT_THAT(base::read_file(path("report.json")), HasSubstr("\"schema_version\": 1"));
}

TEST_F(ReportFileTest, RefusesPlacesThatCannotHoldAReport) {
  EXPECT_THAT(refusal(folder_.string()), HasSubstr("it is a directory"));
  EXPECT_THAT(refusal(folder_.string() + "/"), HasSubstr("it is a directory"));
  EXPECT_THAT(refusal(""), HasSubstr("the path is empty"));
  std::ofstream(path("file")) << "x";
  EXPECT_THAT(refusal(path("file/report.json")), HasSubstr(path("file/report.json")));
  EXPECT_THAT(refusal(path("file/deeper/report.json")), HasSubstr("folder"));
  EXPECT_THAT(refusal(path(std::string(300, 'n') + ".json")), HasSubstr("name too long"));
  EXPECT_EQ(num_files(), 1u);
}

TEST_F(ReportFileTest, TheLongestNameIsTaken) {
  const std::string name = std::string(250, 'n') + ".json";
  const ReportFile file(path(name));
  file.write(MadeRun().report());
  EXPECT_TRUE(fs::exists(path(name)));
}

TEST_F(ReportFileTest, RefusesAFolderThatIsReadOnly) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THAT(refusal(path("report.json")), HasSubstr("denied"));
}

TEST_F(ReportFileTest, RefusesAFileSystemOfTheKernel) {
  EXPECT_THAT(refusal("/proc/falconbench/report.json"), HasSubstr("/proc/falconbench"));
}

TEST_F(ReportFileTest, KeepsASymbolicLink) {
  fs::create_directory(folder_ / "real");
  std::ofstream(path("real/report.json")) << "old";
  fs::create_symlink(folder_ / "real/report.json", folder_ / "link.json");
  ReportFile(path("link.json")).write(MadeRun().report());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.json"));
  EXPECT_THAT(base::read_file(path("real/report.json")), HasSubstr("schema_version"));
}

TEST_F(ReportFileTest, AFullDeviceAtTheEndSendsTheReportToTmpdir) {
  const ReportFile file("/dev/full");
  const char* before = std::getenv("TMPDIR");
  const std::string old = before == nullptr ? "" : before;
  ::setenv("TMPDIR", folder_.c_str(), 1);
  const MadeRun run;
  std::string message;
  try {
    file.write(run.report());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUnwritable);
    message = error.what();
  }
  const std::string fallback = path("falconbench-20260131T120000Z-1a2b3c.json");
  EXPECT_THAT(message, HasSubstr("it was written to " + fallback));
  EXPECT_EQ(base::read_file(fallback), to_text(run.report()));
  ::setenv("TMPDIR", "/proc/nowhere", 1);
  try {
    file.write(run.report());
    ADD_FAILURE() << "written to nowhere";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("nor anywhere else"));
  }
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", old.c_str(), 1);
}

TEST_F(ReportFileTest, AFolderThatVanishedSendsTheReportToTmpdir) {
  const ReportFile file(path("gone/report.json"));
  fs::remove_all(folder_ / "gone");
  try {
    file.write(MadeRun().report());
    ADD_FAILURE() << "written without a folder";
  } catch (const Error& error) {
    const std::string message = error.what();
    const std::size_t at = message.find("it was written to ");
    ASSERT_NE(at, std::string::npos) << message;
    EXPECT_TRUE(fs::remove(message.substr(at + 18)));
  }
}

}  // namespace
}  // namespace falcon::report
