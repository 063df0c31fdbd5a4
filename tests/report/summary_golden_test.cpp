#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"
#include "made_run.h"
#include "report/summary.h"

namespace falcon::report {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = "tests/data/report/" + name;
  if (std::getenv("FALCONBENCH_REWRITE") != nullptr) base::write_file_atomically(path, text);
  EXPECT_EQ(text, base::read_file(path)) << "FALCONBENCH_REWRITE=1 writes it anew";
  for (const std::string& line : base::split(text, '\n')) EXPECT_LE(line.size(), 80u) << line;
}

TEST(SummaryGolden, HealthyRunOnTwoGpus) {
  const MadeRun run;
  expect_golden("healthy.txt", summary(run.report(), "reports/made.json", false));
}

TEST(SummaryGolden, FailedRunWithoutRecords) {
  MadeRun run;
  run.log.status = "failed";
  run.log.exit_code = 4;
  run.log.records.clear();
  run.log.failure = RunFailure{"killed",
                               "rank 1 was killed by SIGKILL (out of memory?)",
                               1,
                               "node1",
                               "GPU-00000001",
                               "measure",
                               17};
  expect_golden("failed.txt", summary(run.report(), "reports/made.json", false));
}

TEST(SummaryGolden, CpuRunWithFindingsAndMissingPhases) {
  MadeRun run(2, 12, false);
  run.telemetry = {};
  for (int rank : {0, 1}) {
    run.records(rank).phases.ms.erase("h2d");
    run.records(rank).phases.reasons["h2d"] = "nothing is copied on a CPU";
    run.records(rank).phases.ms["data_wait"].assign(12, 2);
    run.records(rank).loss.back() = std::nullopt;
    run.records(rank).step_ms[0] = 30;
    run.records(rank).measured_end_s += 0.02;
  }
  run.records(0).loader.capacity_samples_per_s = Measured<double>::missing("synthetic data");
  expect_golden("cpu.txt", summary(run.report(), "out/a b.json", false));
}

TEST(Summary, ARunThatWasNotPlannedSaysNothingOfDevices) {
  MadeRun run;
  run.plan = Plan();
  run.log = RunLog();
  run.log.status = "failed";
  run.telemetry = {};
  const std::string text = summary(run.report(), "r.json", false);
  EXPECT_THAT(text, HasSubstr("failed"));
  EXPECT_THAT(text, Not(HasSubstr("devices")));
}

TEST(Summary, ColoursOnlyWhenAsked) {
  MadeRun run(2, 5);
  const Report report = run.report();
  EXPECT_THAT(summary(report, "r.json", false), Not(HasSubstr("\033")));
  const std::string coloured = summary(report, "r.json", true);
  EXPECT_THAT(coloured, StartsWith("\033[32mok\033[0m  made"));
  EXPECT_THAT(coloured, HasSubstr("\033[33mwarning\033[0m"));
}

TEST(Summary, ControlCharactersOfAUserDoNotReachTheTerminal) {
  MadeRun run;
  run.plan.spec.name = "evil\033[2J";
  EXPECT_THAT(summary(run.report(), "r\n.json", false), Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace falcon::report
