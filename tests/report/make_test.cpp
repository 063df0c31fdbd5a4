#include "report/make.h"

#include <functional>
#include <limits>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/codec.h"
#include "base/json.h"
#include "made_run.h"
#include "report/report_file.h"
#include "report/summary.h"

namespace falcon::report {
namespace {

using base::Value;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Strict JSON in which every null has a reason beside it. Nulls in lists are points of a series.
void expect_honest(const Report& report) {
  const Value value = base::parse_json(to_text(report), "report");
  std::function<void(const Value&, const std::string&)> walk = [&](const Value& at,
                                                                   const std::string& path) {
    if (at.is_list()) {
      for (const Value& item : at.as_list()) walk(item, path + "[]");
    }
    if (!at.is_object()) return;
    for (const Value::Member& member : at.as_object()) {
      const Value* reason = at.find(member.name + "_reason");
      if (member.value.is_null()) {
        EXPECT_TRUE(reason != nullptr && !reason->as_text().empty()) << path << "." << member.name;
      }
      walk(member.value, path + "." + member.name);
    }
  };
  walk(value, "");
}

TEST(MakeReport, HasTheFixedTopLevelNames) {
  const MadeRun run;
  const Value value = base::to_value(run.report());
  std::vector<std::string> names;
  for (const Value::Member& member : value.as_object()) names.push_back(member.name);
  EXPECT_THAT(names, ElementsAre("schema_version", "tool", "run", "spec", "spec_origin", "plan",
                                 "system", "topology", "training", "ranks", "utilization", "series",
                                 "storage", "findings", "error", "error_reason"));
  EXPECT_EQ(value.find_path("plan.spec"), nullptr);
}

TEST(MakeReport, AHealthyRunHasAllItsFigures) {
  const MadeRun run;
  const Report report = run.report();
  expect_honest(report);
  EXPECT_EQ(report.run.status, "ok");
  EXPECT_EQ(exit_code(report), ExitCode::kOk);
  EXPECT_THAT(finding_ids(report), IsEmpty());
  const Training& training = report.training;
  EXPECT_EQ(*training.samples, 40 * 16);
  EXPECT_EQ(*training.steps, 40);
  EXPECT_NEAR(*training.measured_s, 0.4, 1e-9);
  EXPECT_NEAR(*training.throughput.samples_per_s, 1600, 1e-6);
  EXPECT_NEAR(*training.throughput.per_gpu, 800, 1e-6);
  EXPECT_NEAR(*training.step_time_ms.mean, 10, 1e-9);
  EXPECT_NEAR(*training.time_per_epoch_s, 10, 1e-6);
  EXPECT_EQ(training.time_per_epoch_basis, "mean step x 1000 steps of a pass");
  EXPECT_NEAR(*training.time_to_first_step_s, 5, 1e-9);
  EXPECT_DOUBLE_EQ(*training.loss.first, 7.5);
  EXPECT_DOUBLE_EQ(*training.loss.last, 7.5 - 43 * 0.0625);
  EXPECT_EQ(training.loss.series.size(), 44u);
  EXPECT_EQ(training.accuracy.reason, "evaluate is off");
  EXPECT_NEAR(*training.model.mfu, 3 * 6e8 * 1600 / (2 * 989.5e12), 1e-9);
  EXPECT_NEAR(*training.energy_j_per_sample, 320.0 / 640, 1e-9);
  EXPECT_NEAR(*report.utilization.gpus[1].energy_j_per_sample, 0.5, 1e-9);
  EXPECT_EQ(report.topology.verdict, "matched");
  EXPECT_EQ(report.series.at("run/step_time_ms").values.size(), 40u);
  EXPECT_NEAR(report.series.at("run/step_time_ms").t_s.back(), 10.4, 1e-9);
}

TEST(MakeReport, PhasesSumToTheStepAndBandwidthsFollowNcclTests) {
  const MadeRun run;
  const Training training = run.report().training;
  const Phases& p = training.phases_ms;
  double sum = 0;
  for (const auto* phase : {&p.data_wait, &p.h2d, &p.forward, &p.backward, &p.optimizer, &p.other,
                            &p.communication_exposed}) {
    ASSERT_TRUE(phase->has_value());
    sum += *phase->value->mean;
  }
  EXPECT_NEAR(sum, *training.step_time_ms.mean, 1e-9);
  EXPECT_FALSE(training.phases_reason.has_value());
  EXPECT_NEAR(*training.communication.algorithm_bandwidth_bytes_per_s, 7e9, 1);
  EXPECT_NEAR(*training.communication.bus_bandwidth_bytes_per_s, 7e9, 1);  // 2 (n - 1) / n = 1
  EXPECT_NEAR(*training.communication.exposed_ms, 1, 1e-12);
}

TEST(MakeReport, APhaseThatARankLacksIsNullWithItsReason) {
  MadeRun run;
  run.records(1).phases.ms.erase("forward");
  run.records(1).phases.reasons["forward"] = "the captured step has no mark there";
  const Report report = run.report();
  expect_honest(report);
  EXPECT_EQ(report.training.phases_ms.forward.reason, "the captured step has no mark there");
  EXPECT_THAT(*report.training.phases_reason, HasSubstr("forward: the captured step"));
  EXPECT_TRUE(report.training.phases_ms.backward.has_value());
}

TEST(MakeReport, TheSlowestRankClosesTheWindow) {
  MadeRun run;
  run.records(1).step_ms.assign(40, 12.5);
  run.records(1).measured_end_s = run.records(1).measured_begin_s + 0.5;
  const Report report = run.report();
  EXPECT_NEAR(*report.training.measured_s, 0.5, 1e-9);
  EXPECT_NEAR(*report.training.throughput.samples_per_s, 640 / 0.5, 1e-6);
  EXPECT_NEAR(*report.training.step_time_ms.mean, 12.5, 1e-9);
}

TEST(MakeReport, OneRankExchangesNothing) {
  const MadeRun run(1);
  const Report report = run.report();
  expect_honest(report);
  EXPECT_EQ(report.training.communication.busy_ms.reason, "one rank: nothing is exchanged");
  EXPECT_EQ(report.training.communication.bytes_per_step.reason, "one rank: nothing is exchanged");
  EXPECT_DOUBLE_EQ(*report.ranks[0].relative_to_fastest, 1);
}

TEST(MakeReport, OneStepHasNoSpread) {
  const MadeRun run(2, 1);
  const Report report = run.report();
  expect_honest(report);
  EXPECT_NEAR(*report.training.step_time_ms.mean, 10, 1e-9);
  EXPECT_EQ(report.training.step_time_ms.stddev.reason, "one value");
  EXPECT_EQ(report.training.throughput.ci95.reason, "one value");
  EXPECT_TRUE(report.training.throughput.samples_per_s.has_value());
  EXPECT_THAT(finding_ids(report), ElementsAre("few_steps"));
}

TEST(MakeReport, InterruptedBeforeTheFirstMeasuredStep) {
  MadeRun run(2, 0);
  run.log.status = "interrupted";
  run.log.exit_code = 130;
  run.log.failure = RunFailure{"interrupted", "SIGINT", -1, "node1", "", "warm_up", 0};
  for (int rank : {0, 1}) run.records(rank).measured_begin_s = run.records(rank).measured_end_s = 0;
  const Report report = run.report();
  expect_honest(report);
  EXPECT_EQ(exit_code(report), ExitCode::kInterrupted);
  EXPECT_EQ(*report.training.steps, 0);
  EXPECT_EQ(report.training.throughput.samples_per_s.reason, "rank 0 measured no steps");
  EXPECT_EQ(report.training.loss.series.size(), 4u);
  EXPECT_EQ((*report.error).kind, "interrupted");
  EXPECT_EQ((*report.error).rank.reason, "no single rank");
}

TEST(MakeReport, FailedWithoutRecordsGivesNoFigures) {
  MadeRun run;
  run.log.status = "failed";
  run.log.exit_code = 4;
  run.log.records.assign(2, std::nullopt);
  run.log.failure = RunFailure{"killed", "SIGKILL", 1, "node1", "GPU-00000001", "measure", 17};
  run.log.workers[1].ended = "killed by SIGKILL";
  const Report report = run.report();
  expect_honest(report);
  EXPECT_EQ(exit_code(report), ExitCode::kWorker);
  EXPECT_EQ(report.training.samples.reason, "no worker sent records");
  EXPECT_EQ(report.training.step_time_ms.count, 0);
  EXPECT_EQ(report.topology.verdict, "unknown");
  EXPECT_EQ(*(*report.error).rank, 1);
  EXPECT_EQ(*(*report.error).last_step, 17);
  ASSERT_EQ(report.ranks.size(), 2u);
  EXPECT_EQ(report.ranks[1].ended, "killed by SIGKILL");
}

TEST(MakeReport, RecordsOfOneOfTwoRanksAreNotTheRun) {
  MadeRun run;
  run.log.status = "failed";
  run.log.records[1].reset();
  const Report report = run.report();
  expect_honest(report);
  EXPECT_EQ(report.training.throughput.samples_per_s.reason, "rank 1 sent no records");
  EXPECT_EQ(report.training.loss.first.reason, "rank 1 sent no records");
  EXPECT_NEAR(*report.ranks[0].step_time_ms.mean, 10, 1e-9);
}

TEST(MakeReport, ALogOfWorkersThatNeverStarted) {
  MadeRun run;
  run.log.status = "failed";
  run.log.exit_code = 3;
  run.log.records.clear();
  run.log.workers.clear();
  const Report report = run.report();
  expect_honest(report);
  EXPECT_EQ(report.ranks[0].pid.reason, "the worker was not started");
  EXPECT_EQ(report.ranks[0].ended, "not started");
}

TEST(MakeReport, ARunThatWasNeverPlanned) {
  MadeRun run;
  const RunSpec spec = run.plan.spec;
  run.plan = Plan();
  run.plan.spec = spec;
  run.log = RunLog();
  run.log.status = "failed";
  run.log.exit_code = 3;
  run.log.failure = RunFailure{"host", "this host has no GPU", -1, "node1", "", "start", 0};
  run.telemetry = {};
  const Report report = run.report();
  expect_honest(report);
  EXPECT_EQ(exit_code(report), ExitCode::kHost);
  EXPECT_THAT(report.ranks, IsEmpty());
  EXPECT_THAT(report.topology.evidence, ElementsAre("nothing was planned"));
  EXPECT_EQ(report.topology.verdict, "unknown");
}

TEST(MakeReport, CpuRunWithoutTelemetry) {
  MadeRun run(2, 40, false);
  run.telemetry = {};
  const Report report = run.report();
  expect_honest(report);
  EXPECT_EQ(report.training.energy_j_per_sample.reason, "no GPU computed");
  EXPECT_EQ(report.training.model.mfu.reason, "no data sheet peak is stated for a CPU");
  EXPECT_EQ(report.topology.verdict, "matched");
  EXPECT_THAT(finding_ids(report), ElementsAre("telemetry_missing"));
  // without telemetry the series starts with the run
  EXPECT_NEAR(report.series.at("run/step_time_ms").t_s.front(), 10.01, 1e-9);
}

TEST(MakeReport, GpuTelemetryMissingIsSaid) {
  MadeRun run;
  run.telemetry.utilization.gpus.clear();
  const Report report = run.report();
  expect_honest(report);
  EXPECT_EQ(report.training.energy_j_per_sample.reason, "no GPU telemetry");
  EXPECT_THAT(finding_ids(report), ElementsAre("telemetry_missing"));
}

TEST(MakeReport, TelemetryMissingOnAnotherHostIsSaidWithItsName) {
  MadeRun run;
  OtherHost silent, poor;
  silent.host.hostname = "B";
  silent.sight = Measured<HostSight>::missing("it is gone");
  poor.host.hostname = "C";
  HostSight sight;
  sight.telemetry.utilization.window_s = 0.4;
  sight.telemetry.utilization.host.cpu_pct = Summary{50, 50, 50, 2, 100};
  SourceTelemetry source;
  source.sampler = "disk";
  source.scope = "host";
  source.unsupported = {"disks: no /proc/diskstats"};
  sight.telemetry.utilization.sources = {source};
  poor.sight = sight;
  run.circumstances.others = {silent, poor};
  const Report report = run.report();
  expect_honest(report);
  ASSERT_THAT(finding_ids(report), ElementsAre("telemetry_missing"));
  EXPECT_EQ(report.findings[0].evidence,
            "all on host B: it is gone; disk of host on host C: disks: no /proc/diskstats");
}

TEST(MakeReport, EpochsAreCountedFromTheFirstMeasuredStep) {
  MadeRun run;
  run.plan.steps_per_epoch = 15;
  const Training training = run.report().training;
  ASSERT_EQ(training.epochs.size(), 3u);
  EXPECT_TRUE(training.epochs[1].complete);
  EXPECT_EQ(training.epochs[2].steps, 10);
  EXPECT_FALSE(training.epochs[2].complete);
  EXPECT_NEAR(*training.time_per_epoch_s, 0.15, 1e-9);
  EXPECT_EQ(training.time_per_epoch_basis, "mean of 2 measured passes");
}

TEST(MakeReport, ALongLossSeriesIsThinnedAndItsMeanKept) {
  MadeRun run(1, 40);
  run.records(0).loss.clear();
  for (int step = 0; step < 7000; ++step) run.records(0).loss.emplace_back(step % 2 == 0 ? 1 : 3);
  const Loss loss = run.report().training.loss;
  EXPECT_EQ(loss.steps_per_point, 3);
  EXPECT_EQ(loss.series.size(), 2334u);
  EXPECT_NEAR(*loss.series[0], 5.0 / 3, 1e-12);
  EXPECT_NEAR(*loss.series.back(), 3, 1e-12);
  EXPECT_DOUBLE_EQ(*loss.first, 1);
}

TEST(MakeReport, AnotherImageSizeHasNoKnownFlops) {
  MadeRun run;
  run.plan.spec.image_size = 64;
  const ModelFigures model = run.report().training.model;
  EXPECT_EQ(model.flops_per_sample.reason, "known for image_size 224 only");
  EXPECT_EQ(model.mfu.reason, "known for image_size 224 only");
}

TEST(MakeReport, ReadsBackFromItsText) {
  const MadeRun run;
  const std::string text = to_text(run.report());
  const Report again = base::from_value<Report>(base::parse_json(text, "report"));
  EXPECT_EQ(to_text(again), text);
}

TEST(MakeReport, ANumberThatIsNotFiniteIsNullWithAReason) {
  MadeRun run;
  run.telemetry.utilization.interval_ms = std::numeric_limits<double>::quiet_NaN();
  run.telemetry.series["host/cpu_pct"].values = {1, std::numeric_limits<double>::infinity()};
  const Report report = run.report();
  expect_honest(report);
  const Value value = base::parse_json(to_text(report), "report");
  EXPECT_EQ(value.find_path("utilization.interval_ms_reason")->as_text(), "is not a finite number");
  EXPECT_TRUE(value.find("series")->find("host/cpu_pct")->find("values")->as_list()[1].is_null());
}

TEST(MakeReport, BytesThatAreNoUtf8DoNotCostTheReport) {
  MadeRun run;
  run.circumstances.command_line.emplace_back("caf\xc3\xa9 \xff\xc3");
  run.records(0).loader.skipped["odd\xfe"] = 1;
  const Value value = base::parse_json(to_text(run.report()), "report");
  EXPECT_EQ(value.find_path("run.command_line")->as_list().back().as_text(),
            "caf\xc3\xa9 \\xff\\xc3");
  EXPECT_NE(value.find_path("training.input.skipped.odd\\xfe"), nullptr);
}

TEST(MakeReport, PausesAreInTheTrainingTimeAndInNoStep) {
  MadeRun run;
  run.plan.spec.evaluate = true;
  for (int rank : {0, 1}) {
    WorkerRecords& records = run.records(rank);
    records.measured_end_s += 2;  // of a checkpoint in the middle
    PauseRecord inside{"checkpoint", 24, kMadeWindow_s + 0.2, kMadeWindow_s + 2.2, "", 0};
    PauseRecord after{"checkpoint", 44, records.measured_end_s, records.measured_end_s + 1, "", 0};
    PauseRecord last{"evaluation", 44, after.end_s, after.end_s + 4, "", 0};
    if (rank == 0) inside.file = after.file = "/kept/checkpoint.safetensors";
    if (rank == 0) inside.bytes = after.bytes = 1000;
    records.pauses = {inside, after, last};
  }
  run.records(0).evaluation = EvaluationRecord{100, 2, {{"top1", 0.75}, {"top5", 1}}};
  run.records(0).saved_weights = SavedFile{"/w.safetensors", 500, 0.25};
  const Report report = run.report();
  expect_honest(report);
  const Training& training = report.training;
  EXPECT_NEAR(*training.measured_s, 0.4, 1e-9);
  EXPECT_NEAR(*training.throughput.samples_per_s, 1600, 1e-6);
  EXPECT_NEAR(*training.training_time_s, 0.4 + 2 + 1 + 4, 1e-9);
  EXPECT_NEAR(*training.step_time_ms.mean, 10, 1e-9);
  ASSERT_EQ(training.checkpoints.size(), 2u);
  EXPECT_EQ(training.checkpoints[0].step, 24);
  EXPECT_EQ(training.checkpoints[0].bytes, 1000);
  EXPECT_NEAR(training.checkpoints[0].time_s, 2, 1e-9);
  EXPECT_NEAR(training.checkpoints[1].time_s, 1, 1e-9);
  EXPECT_DOUBLE_EQ((*training.accuracy).at("top1"), 0.75);
  EXPECT_EQ((*training.evaluation).skipped, 2);
  EXPECT_NEAR((*training.evaluation).time_s, 4, 1e-9);
  EXPECT_NEAR(*(*training.evaluation).samples_per_s, 25, 1e-9);
  EXPECT_EQ((*training.saved_weights).bytes, 500);
  EXPECT_THAT(finding_ids(report), IsEmpty()) << "the step clock is right";
  const std::string told = summary(report, "out.json", false);
  EXPECT_THAT(told, HasSubstr("top1 0.750, top5 1.000"));
  EXPECT_THAT(told, HasSubstr("2 in 3.000 s, the last of 0.00100 MB"));
}

TEST(MakeReport, WhatAWeightFileLackedIsAFinding) {
  MadeRun run;
  run.records(0).weights = {"/w.safetensors", 199, 197, 2, 1, {"qa_outputs.weight", "b"}, {"cls"}};
  const Report report = run.report();
  expect_honest(report);
  EXPECT_EQ((*report.training.initial_weights).unused_names, std::vector<std::string>{"cls"});
  ASSERT_THAT(finding_ids(report), ElementsAre("weights_missing"));
  EXPECT_EQ(report.findings[0].evidence, "2 of 199: qa_outputs.weight, b");
}

}  // namespace
}  // namespace falcon::report
