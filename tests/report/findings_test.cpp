#include "report/findings.h"

#include <algorithm>
#include <limits>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/catalog.h"
#include "made_run.h"

namespace falcon::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Findings, EveryRuleIsInTheCatalogOnce) {
  std::set<std::string> known;
  for (const WordFacts& facts : catalog::findings()) known.insert(facts.name);
  const std::vector<std::string> names = rule_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  for (const std::string& name : names) EXPECT_TRUE(known.contains(name)) << name;
}

TEST(Findings, AreComplete) {
  MadeRun run(2, 5);
  run.records(0).loader.skipped["damaged"] = 2;
  run.plan.findings.push_back({"gpu_in_use", "warning", "held", "pid 7", "end it"});
  for (const Finding& finding : run.report().findings) {
    EXPECT_THAT(finding.severity, testing::AnyOf("info", "warning", "invalid"));
    EXPECT_FALSE(finding.message.empty() || finding.evidence.empty() || finding.advice.empty())
        << finding.id;
  }
  EXPECT_THAT(finding_ids(run.report()), ElementsAre("gpu_in_use", "few_steps", "data_skipped"));
}

TEST(Findings, LoaderBound) {
  MadeRun run;
  run.records(0).phases.ms["data_wait"].assign(40, 0.9);
  run.records(1).phases.ms["data_wait"].assign(40, 0.9);
  EXPECT_THAT(finding_ids(run.report()), Not(Contains("loader_bound")));
  for (int rank : {0, 1}) {
    run.records(rank).phases.ms["data_wait"].assign(40, 1.25);
    run.records(rank).phases.ms["forward"].assign(40, 2);
  }
  EXPECT_THAT(finding_ids(run.report()), ElementsAre("loader_bound"));
}

TEST(Findings, SlowFirstStep) {
  MadeRun run(1);
  run.records(0).step_ms[0] = 25;
  run.records(0).measured_end_s += 0.015;
  EXPECT_THAT(finding_ids(run.report()), Contains("first_step_slow"));
  run.records(0).step_ms[0] = 19;
  run.records(0).measured_end_s -= 0.006;
  EXPECT_THAT(finding_ids(run.report()), Not(Contains("first_step_slow")));
}

TEST(Findings, DriftAndVariation) {
  MadeRun drifting(1);
  std::fill(drifting.records(0).step_ms.begin() + 20, drifting.records(0).step_ms.end(), 10.8);
  EXPECT_THAT(finding_ids(drifting.report()), Contains("unstable_steps"));
  MadeRun varying(1);
  for (std::size_t i = 0; i < 40; i += 2) varying.records(0).step_ms[i] = 16;
  EXPECT_THAT(finding_ids(varying.report()), Contains("unstable_steps"));
}

TEST(Findings, LossNotFiniteMakesAStrictRunInvalid) {
  MadeRun run;
  run.records(1).loss[20] = std::nullopt;
  Report report = run.report();
  EXPECT_THAT(finding_ids(report), ElementsAre("loss_not_finite"));
  EXPECT_EQ(report.run.status, "ok");
  EXPECT_EQ(exit_code(report), ExitCode::kOk);
  EXPECT_FALSE(report.training.loss.series[20].has_value());
  EXPECT_EQ(*report.training.loss.series_reason, "1 points are not finite");
  run.plan.spec.strict = true;
  report = run.report();
  EXPECT_EQ(report.run.status, "invalid");
  EXPECT_EQ(exit_code(report), ExitCode::kInvalid);
}

TEST(Findings, StrictDoesNotHideAFailure) {
  MadeRun run;
  run.records(1).loss[20] = std::nullopt;
  run.plan.spec.strict = true;
  run.log.status = "failed";
  run.log.exit_code = 4;
  const Report report = run.report();
  EXPECT_EQ(report.run.status, "failed");
  EXPECT_EQ(exit_code(report), ExitCode::kWorker);
}

TEST(Findings, StragglerIsTheRankThatDoesNotWait) {
  MadeRun run;
  run.records(1).phases.ms["communication_exposed"].assign(40, 0.25);
  run.records(1).phases.ms["backward"].assign(40, 5.25);
  const Report report = run.report();
  EXPECT_THAT(finding_ids(report), ElementsAre("stragglers"));
  EXPECT_THAT(report.findings[0].message, HasSubstr("rank 1"));
  EXPECT_DOUBLE_EQ(*report.ranks[0].relative_to_fastest, 1);
  EXPECT_NEAR(*report.ranks[1].relative_to_fastest, 9.75 / 9, 1e-9);
}

TEST(Findings, DifferentParametersOrDevicesAreInvalid) {
  MadeRun run;
  run.records(1).parameter_hash = "0123456789abcdef";
  run.records(0).devices[0].uuid = "GPU-99999999";
  const Report report = run.report();
  EXPECT_THAT(finding_ids(report), ElementsAre("topology_mismatched", "parameters_differ"));
  EXPECT_EQ(report.findings[0].severity, "invalid");
  EXPECT_THAT(report.findings[0].evidence, HasSubstr("planned GPU-00000000, used GPU-99999999"));
}

TEST(Findings, AUuidIsTheSameAsCudaAndNvmlWriteIt) {
  MadeRun run;
  run.plan.ranks[0].devices[0].uuid = "GPU-00ab0000";
  run.records(0).devices[0].uuid = "00AB0000";
  EXPECT_EQ(run.report().topology.verdict, "matched");
}

TEST(Findings, ClocksThatDisagreeAreInvalid) {
  MadeRun run;
  for (int rank : {0, 1}) run.records(rank).measured_end_s += 0.02;
  EXPECT_THAT(finding_ids(run.report()), ElementsAre("step_clock_differs"));
}

TEST(Findings, PhasesThatDoNotSum) {
  MadeRun run;
  for (int rank : {0, 1}) run.records(rank).phases.ms["forward"].assign(40, 3.5);
  EXPECT_THAT(finding_ids(run.report()), ElementsAre("phases_do_not_sum"));
}

TEST(Findings, OfTheMachine) {
  MadeRun run;
  GpuLinkTelemetry& link = run.telemetry.utilization.gpus[1].pcie_link;
  link.width = Summary{8, 8, 8, 2, 100};
  link.width_max = std::int64_t{16};
  run.host.cpu.usable = 1;
  run.telemetry.utilization.gpus[0].throttle =
      std::vector<ThrottleShare>{{"idle", 50, "counter"}, {"power_cap", 7, "counter"}};
  const Report report = run.report();
  EXPECT_THAT(finding_ids(report),
              ElementsAre("gpu_throttled", "pcie_link_degraded", "cpu_oversubscribed"));
  EXPECT_THAT(report.findings[0].message, HasSubstr("power_cap"));
}

TEST(Findings, OfTheEnd) {
  MadeRun run;
  run.log.workers[1].ended = "killed by SIGKILL";
  run.records(0).skipped_steps = 2;
  run.records(0).notes = run.records(1).notes = {"eager steps"};
  run.plan.steps_per_epoch = 20;
  run.plan.dropped_per_epoch = 3;
  const Report report = run.report();
  EXPECT_THAT(finding_ids(report), ElementsAre("unclean_exit", "loss_scale_skips",
                                               "partial_batch_dropped", "worker_note"));
  EXPECT_EQ(report.findings[3].evidence, "rank 0, 1");
}

TEST(Findings, TelemetryThatWasNotWantedIsNotMissed) {
  MadeRun run;
  run.telemetry = {};
  run.plan.spec.telemetry.samplers = std::vector<std::string>();
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
}

}  // namespace
}  // namespace falcon::report
