// The loop of a single rank on the CPU.
#include "train/trainer.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <falconbench/errors.h>

#include "train/training_kit.h"

namespace falcon::train {
namespace {

double resident_mib() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

TEST(Trainer, RecordsWhatItDid) {
  const Plan plan = test::small_plan(1, 8);
  test::Rank rank(plan, test::make_tiny_model(10), nullptr);
  rank.trainer().run();
  const WorkerRecords records = rank.records();
  EXPECT_EQ(records.warmup_steps, 2);
  EXPECT_EQ(records.measured_steps, 5);
  EXPECT_EQ(records.step_ms.size(), 5U);
  ASSERT_EQ(records.loss.size(), 7U);
  for (const auto& loss : records.loss) EXPECT_TRUE(loss && std::isfinite(*loss) && *loss > 0);
  EXPECT_EQ(records.lr, std::vector<double>(7, 0.05));
  EXPECT_EQ(*rank.trainer().progress(), 7);
  EXPECT_EQ(records.parameters, 8 * 27 + 10 * 8 + 10);
  EXPECT_EQ(records.parameter_hash.size(), 16U);
  EXPECT_EQ(records.loader.samples, 5 * 8);
  EXPECT_GT(*records.loader.capacity_samples_per_s, 0);
  EXPECT_FALSE(records.loss_scale.has_value());
  EXPECT_FALSE(records.communication.busy_ms.has_value());
  EXPECT_EQ(records.communication.calls_per_step, 0);
  EXPECT_LT(records.first_step_end_s, records.measured_begin_s);
  const double window_s = records.measured_end_s - records.measured_begin_s;
  const double steps_ms = std::accumulate(records.step_ms.begin(), records.step_ms.end(), 0.0);
  EXPECT_NEAR(window_s, steps_ms / 1e3, 1e-6);
  EXPECT_EQ(rank.control().began_s, records.measured_begin_s);
  EXPECT_EQ(rank.control().ended_s, records.measured_end_s);
  EXPECT_EQ(records.choices.at("memory_format"), "contiguous");
}

/// Training goes on, but the measured part is over.
TEST(Trainer, TracesStepsAfterTheMeasuredOnes) {
  const Plan plan = test::small_plan(1, 8);
  test::Rank rank(plan, test::make_tiny_model(10), nullptr);
  rank.trainer().run();
  const WorkerRecords before = rank.records();
  const TraceRecord trace = rank.trainer().trace(3);
  WorkerRecords after = rank.records();
  EXPECT_EQ(*rank.trainer().progress(), 7 + kTraceLeadSteps + 3);
  EXPECT_EQ(after.step_ms, before.step_ms);
  EXPECT_EQ(after.loss, before.loss);
  EXPECT_EQ(after.measured_end_s, before.measured_end_s);
  EXPECT_NE(after.parameter_hash, before.parameter_hash);
  EXPECT_EQ(trace.steps, 3);
  EXPECT_GT(trace.begin_s, before.measured_end_s);
  EXPECT_FALSE(trace.gpu_busy_pct.has_value());
  std::map<std::string, std::int64_t> counts;
  double steps_us = 0, phases_us = 0;
  for (std::size_t i = 0; i < trace.name.size(); ++i) {
    const std::string& track = trace.tracks.at(static_cast<std::size_t>(trace.track[i]));
    counts[trace.names.at(static_cast<std::size_t>(trace.name[i]))] += 1;
    if (track == "steps") steps_us += trace.duration_us[i];
    if (track == "phases") phases_us += trace.duration_us[i];
    EXPECT_LT(trace.begin_us[i] + trace.duration_us[i], 1e6 * (trace.end_s - trace.begin_s) + 500);
  }
  EXPECT_NEAR(steps_us, 1e6 * (trace.end_s - trace.begin_s), 1);
  EXPECT_NEAR(phases_us, steps_us, 0.02 * steps_us);
  EXPECT_EQ(counts["step 11"] + counts["step 12"] + counts["step 13"], 3);
  EXPECT_EQ(counts["forward"], 3);
  EXPECT_EQ(counts["aten::relu"] % (kTraceLeadSteps + 3), 0);
  EXPECT_GE(counts["aten::relu"], kTraceLeadSteps + 3);
}

TEST(Trainer, PhasesSumToTheStep) {
  const WorkerRecords records = test::run_alone(test::small_plan(1, 16), test::make_tiny_model(10));
  EXPECT_TRUE(records.phases.ms.at("h2d").empty());
  EXPECT_TRUE(records.phases.reasons.contains("h2d"));
  EXPECT_TRUE(records.phases.reasons.contains("communication_exposed"));
  for (const char* name : {"data_wait", "forward", "backward", "optimizer", "other"}) {
    ASSERT_EQ(records.phases.ms.at(name).size(), 5U) << name;
  }
  for (std::size_t step = 0; step < 5; ++step) {
    double sum = 0;
    for (const auto& [name, list] : records.phases.ms) {
      if (list.empty()) continue;
      EXPECT_GE(list[step], -1e-9) << name;
      sum += list[step];
    }
    EXPECT_NEAR(sum, records.step_ms[step], 0.02 * records.step_ms[step]);
    EXPECT_GT(records.phases.ms.at("forward")[step], 0);
    EXPECT_GT(records.phases.ms.at("backward")[step], 0);
  }
}

TEST(Trainer, WithoutThePhaseClockOnlyStepsAreTimed) {
  test::Rank rank(test::small_plan(1, 8), test::make_tiny_model(10), nullptr);
  rank.trainer().clock().set_enabled(false);
  rank.trainer().run();
  const WorkerRecords records = rank.records();
  EXPECT_EQ(records.step_ms.size(), 5U);
  EXPECT_TRUE(records.phases.ms.at("forward").empty());
  EXPECT_TRUE(records.phases.reasons.contains("forward"));
}

TEST(Trainer, TheSameSeedGivesTheSameParametersAndAnotherDoesNot) {
  Plan plan = test::small_plan(1, 8);
  const WorkerRecords first = test::run_alone(plan, test::make_tiny_model(10));
  const WorkerRecords second = test::run_alone(plan, test::make_tiny_model(10));
  EXPECT_EQ(first.parameter_hash, second.parameter_hash);
  EXPECT_EQ(first.loss, second.loss);
  plan.spec.seed = 4;
  EXPECT_NE(test::run_alone(plan, test::make_tiny_model(10)).parameter_hash, first.parameter_hash);
}

TEST(Trainer, DdpOfOneRankIsNone) {
  Plan plan = test::small_plan(1, 8);
  const WorkerRecords none = test::run_alone(plan, test::make_tiny_model(10));
  plan.parallelism = "ddp";
  const WorkerRecords ddp = test::run_alone(plan, test::make_tiny_model(10));
  EXPECT_EQ(ddp.parameter_hash, none.parameter_hash);
  EXPECT_EQ(ddp.loss, none.loss);
}

TEST(Trainer, Bf16ChangesTheArithmeticButNotTheWeightsType) {
  Plan plan = test::small_plan(1, 8);
  const WorkerRecords fp32 = test::run_alone(plan, test::make_tiny_model(10));
  plan.spec.precision = "bf16";
  test::Rank rank(plan, test::make_tiny_model(10), nullptr);
  rank.trainer().run();
  const WorkerRecords bf16 = rank.records();
  EXPECT_NE(bf16.loss, fp32.loss);
  for (std::size_t i = 0; i < fp32.loss.size(); ++i) {
    EXPECT_NEAR(*bf16.loss[i], *fp32.loss[i], 0.05) << "step " << i;
  }
  for (const NamedTensor& parameter : rank.model().parameters()) {
    EXPECT_EQ(parameter.tensor.scalar_type(), at::kFloat);
  }
}

TEST(Trainer, TheScheduleFollowsTheEpochs) {
  Plan plan = test::small_plan(1, 8);
  plan.steps_per_epoch = 2;
  plan.spec.schedule.kind = "step";
  plan.spec.schedule.step_epochs = 1;
  plan.spec.schedule.gamma = 0.5;
  const WorkerRecords records = test::run_alone(plan, test::make_tiny_model(10));
  EXPECT_EQ(records.lr, (std::vector<double>{0.05, 0.05, 0.025, 0.025, 0.0125, 0.0125, 0.00625}));
}

TEST(Trainer, ALossThatIsNotFiniteIsNoNumberInTheRecords) {
  test::Rank rank(test::small_plan(1, 8), test::make_tiny_model(10), nullptr);
  {
    const at::NoGradGuard no_grad;
    rank.model().parameters().back().tensor.fill_(std::numeric_limits<double>::infinity());
  }
  rank.trainer().run();
  const WorkerRecords records = rank.records();
  ASSERT_EQ(records.loss.size(), 7U);
  EXPECT_FALSE(records.loss[0].has_value());
  ASSERT_EQ(records.notes.size(), 1U);
  EXPECT_EQ(records.notes[0], "loss_not_finite: 7 of 7 steps, first in step 1");
}

TEST(Trainer, AStopInTheWarmUpEndsTheRunWithoutMeasuredSteps) {
  Plan plan = test::small_plan(1, 8);
  plan.warmup_steps = 100000;
  test::Rank rank(plan, test::make_tiny_model(10), nullptr);
  rank.control().stop = [&] { return *rank.trainer().progress() >= 5; };
  rank.trainer().run();
  const WorkerRecords records = rank.records();
  EXPECT_GE(records.warmup_steps, 5);
  EXPECT_LT(records.warmup_steps, 10000);
  EXPECT_EQ(records.measured_steps, 0);
  EXPECT_EQ(rank.control().ended_s, 0);
}

TEST(Trainer, NoWarmUpMeasuresFromTheStart) {
  Plan plan = test::small_plan(1, 8);
  plan.warmup_steps = 0;
  const WorkerRecords records = test::run_alone(plan, test::make_tiny_model(10));
  EXPECT_EQ(records.measured_steps, 5);
  EXPECT_GT(records.measured_begin_s, 0);
  EXPECT_LT(records.measured_begin_s, records.first_step_end_s);
}

TEST(Trainer, PrecisionsOfGpusAreRefusedOnTheCpu) {
  Plan plan = test::small_plan(1, 8);
  for (const char* name : {"fp16", "tf32", "int8"}) {
    plan.spec.precision = name;
    EXPECT_THROW(test::Rank(plan, test::make_tiny_model(10), nullptr), Error) << name;
  }
}

TEST(Trainer, AThousandStepsDoNotGrow) {
  test::Rank rank(test::small_plan(1, 8), test::make_tiny_model(10), nullptr);
  for (int step = 0; step < 300; ++step) rank.trainer().step();
  const double before_mib = resident_mib();
  for (int step = 0; step < 1000; ++step) rank.trainer().step();
  EXPECT_LT(resident_mib() - before_mib, 4);
  rank.trainer().finish();
  EXPECT_EQ(*rank.trainer().progress(), 1300);
}

}  // namespace
}  // namespace falcon::train
