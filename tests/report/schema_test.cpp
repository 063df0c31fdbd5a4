#include "report/schema.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files.h"
#include "base/text.h"
#include "made_links.h"
#include "made_run.h"
#include "report/links/make.h"
#include "report/report_file.h"

namespace falcon::report {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
constexpr const char* kSchema = "schemas/report.schema.json";
constexpr const char* kLinksSchema = "schemas/links.schema.json";

void expect_committed(const char* file, const std::string& text) {
  if (std::getenv("FALCONBENCH_REWRITE") != nullptr) base::write_file_atomically(file, text);
  EXPECT_EQ(base::read_file(file), text)
      << "set FALCONBENCH_REWRITE=1 to write it anew, and look at the difference";
}

TEST(Schema, TheCommittedFilesAreThoseTheProgramMakes) {
  expect_committed(kSchema, schema_text());
  expect_committed(kLinksSchema, links_schema_text());
}

/// The verdicts of an independent validator, one word a report; empty: there is no validator.
std::vector<std::string> verdicts(const char* schema, const std::vector<std::string>& reports) {
  std::string folder = (fs::temp_directory_path() / "falcon-schema-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return {"no temporary folder"};
  const std::string python = fs::exists(".venv/bin/python") ? ".venv/bin/python" : "python3";
  std::string command = python + " tests/report/validate.py " + schema;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const std::string file = folder + "/" + std::to_string(i) + ".json";
    std::ofstream(file) << reports[i];
    command += " " + file;
  }
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string output;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) output += static_cast<char>(c);
  const int code = WEXITSTATUS(::pclose(pipe));
  fs::remove_all(folder);
  if (code == 77) return {};
  return base::split(base::trim(output), '\n');
}

std::string failed_run() {
  MadeRun failed(2, 0, false);
  failed.telemetry = {};
  failed.log.status = "failed";
  failed.log.records.clear();
  failed.log.failure = RunFailure{"hang", "no sign of life", 1, "node1", "", "measure", 3};
  return to_text(failed.report());
}

std::string run_with_gaps() {
  MadeRun broken(2, 3);
  broken.records(1).loss[2] = std::nullopt;
  broken.records(1).phases.ms.clear();
  broken.records(0).loader.skipped["damaged"] = 1;
  broken.records(0).loader.skipped_items = {{"a/b.jpg", "damaged", "ends early"}};
  return to_text(broken.report());
}

std::string unplanned_run() {
  MadeRun run;
  run.plan = Plan();
  run.log = RunLog();
  run.log.status = "failed";
  run.telemetry = {};
  return to_text(run.report());
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Schema, AValidatorTakesEveryReportAndRefusesChangedOnes) {
  const std::string text = to_text(MadeRun().report());
  const std::vector<std::string> found =
      verdicts(kSchema, {text, run_with_gaps(), failed_run(), unplanned_run(),
                         replaced(text, "\"samples_per_s\"", "\"samples_per_sec\""),
                         replaced(text, "\"training\"", "\"trainings\""),
                         replaced(text, "\"accuracy_reason\"", "\"accuracy_why\""),
                         replaced(text, "\"exit_code\": 0", "\"exit_code\": \"0\""),
                         replaced(text, "\"tool\": {", "\"tool\": {\"new\": 1,"),
                         replaced(text, "\"duration_s\": 15.0", "\"duration_s\": NaN")});
  if (found.empty()) GTEST_SKIP() << "python3 has no jsonschema (scripts/setup.sh installs it)";
  EXPECT_THAT(
      found,
      ElementsAre("valid", "valid", "valid", "valid", HasSubstr("'samples_per_s' is a required"),
                  HasSubstr("'training' is a required"),
                  HasSubstr("'accuracy_reason' is a required"),
                  HasSubstr("$.run.exit_code: '0' is not of type 'integer'"),
                  HasSubstr("$.tool: Additional properties"), HasSubstr("NaN is no JSON")));
}

std::string links_without(bool copies, bool collectives) {
  MadeLinks made;
  if (!copies) {
    made.input.copies = {};
    made.input.failure = RunFailure{"hang", "no sign of life", 0, "node1", "", "measure", 3};
  }
  if (!collectives) made.input.collectives.clear();
  return to_text(make_links(made.input));
}

TEST(Schema, AValidatorTakesEveryDocumentOfLinks) {
  LinksInput nothing;
  nothing.failure = RunFailure{"host", "no GPU", -1, "node1", "", "start", 0};
  const std::string text = links_without(true, true);
  const std::vector<std::string> found = verdicts(
      kLinksSchema,
      {text, links_without(false, true), links_without(true, false), to_text(make_links(nothing)),
       replaced(text, "\"pairs\"", "\"pears\""), replaced(text, "\"median\"", "\"middle\"")});
  if (found.empty()) GTEST_SKIP() << "python3 has no jsonschema (scripts/setup.sh installs it)";
  EXPECT_THAT(found,
              ElementsAre("valid", "valid", "valid", "valid", HasSubstr("'pairs' is a required"),
                          HasSubstr("'median' is a required")));
}

}  // namespace
}  // namespace falcon::report
