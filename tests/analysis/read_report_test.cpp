#include "analysis/read_report.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/json.h"
#include "falconbench/errors.h"
#include "made_run.h"
#include "report/report_file.h"

namespace falcon::analysis {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class ReadReport : public testing::Test {
 protected:
  ReadReport() { fs::create_directories(folder_); }
  ~ReadReport() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string fault_of(const std::string& text) const {
    try {
      read_report(write("fault.json", text));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      return error.what();
    }
    return "";
  }

  const fs::path folder_ =
      fs::temp_directory_path() / ("falcon-read-report-" + std::to_string(::getpid()));
};

TEST_F(ReadReport, WhatWasWrittenReadsBackTheSame) {
  for (const bool on_gpu : {true, false}) {
    const std::string text = report::to_text(report::MadeRun(2, 40, on_gpu).report());
    EXPECT_EQ(report::to_text(read_report(write("a.json", text))), text);
  }
}

TEST_F(ReadReport, KeysOfANewerProgramArePassedOver) {
  base::Value value = base::to_value(report::MadeRun().report());
  value.set("added_later", 1);
  value.find("run")->set("added_too", base::Value::object());
  value.find("spec")->set("parallelism",
                          base::Value(base::Value::Object{{"sharded", base::Value::object(), {}}}));
  const Report report = read_report(write("a.json", base::to_json(value)));
  EXPECT_EQ(report.spec.model, "mobilenet_v2");
  EXPECT_EQ(report.spec.parallelism.kind, "sharded");
}

TEST_F(ReadReport, FieldsOfAnOlderProgramAreMissing) {
  const Report report = read_report(write("a.json", R"({"schema_version": 1, "run": {}})"));
  EXPECT_FALSE(report.training.throughput.samples_per_s.has_value());
  EXPECT_EQ(report.training.throughput.samples_per_s.reason, "not measured");
}

TEST_F(ReadReport, DamageIsToldWithFileAndPlace) {
  EXPECT_THAT(fault_of("{\"schema_version\": 1,\n \"run\": {\"id\": 7}}"),
              HasSubstr("fault.json:2:16: run.id: expected text"));
  EXPECT_THAT(fault_of("{\"schema_version\": 1, \"run\": {"), HasSubstr("fault.json:1:"));
  EXPECT_THAT(fault_of(""), HasSubstr("fault.json:1:1"));
  EXPECT_THAT(fault_of("[]"), HasSubstr("no report of falconbench"));
  EXPECT_THAT(fault_of(R"({"schema_version": 2, "run": {}})"),
              HasSubstr("fault.json:1:20: schema_version: is 2; this program reads 1"));
  EXPECT_THROW(read_report((folder_ / "absent.json").string()), Error);
}

TEST_F(ReadReport, AFolderStandsForItsReports) {
  const std::string b = write("b.json", "{}");
  const std::string a = write("a.json", "{}");
  write("index.jsonl", "");
  EXPECT_THAT(report_files({folder_.string(), "x.json"}), ElementsAre(a, b, "x.json"));
  fs::create_directories(folder_ / "empty");
  EXPECT_THROW(report_files({(folder_ / "empty").string()}), Error);
}

}  // namespace
}  // namespace falcon::analysis
