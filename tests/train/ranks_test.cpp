// Several ranks against one process, in float64.
#include "comm/ranks.h"

#include <array>

#include <gtest/gtest.h>

#include "train/micro_batches.h"
#include "train/training_kit.h"

namespace falcon::train {
namespace {

using Case = std::tuple<std::string, test::Split>;

class RanksAgainstMicroBatches : public testing::TestWithParam<Case> {};

/// One rank of the case; gives its parameters' hash.
std::string run_rank(const Case& one, comm::ProcessGroup* group, const test::Outcome& want) {
  const auto& [name, split] = one;
  test::Rank rank(test::compared_plan(name, split), test::compared_model(name, split.slices()),
                  group, test::float64());
  rank.trainer().run();
  const test::Outcome got = test::outcome_of(rank.model());
  EXPECT_FALSE(got.parameters.empty());
  test::expect_near(got.parameters, want.parameters, "parameter");
  test::expect_near(got.gradients, want.gradients, "gradient");
  if (group == nullptr || group->rank() == 0)
    test::expect_near(got.buffers, want.buffers, "buffer");
  const WorkerRecords records = rank.records();
  EXPECT_EQ(records.phases.ms.at("backward").size(), records.step_ms.size());
  if (group == nullptr) return records.parameter_hash;
  EXPECT_EQ(records.communication.bytes_per_step, records.parameters * 8);
  EXPECT_GE(records.communication.calls_per_step, 2);
  EXPECT_GT(*records.communication.busy_ms.value, 0);
  EXPECT_EQ(records.phases.ms.at("communication_exposed").size(), records.step_ms.size());
  return records.parameter_hash;
}

TEST_P(RanksAgainstMicroBatches, SameGradientsParametersAndBuffers) {
  const auto& [name, split] = GetParam();
  const test::Outcome want = test::of_micro_batches(name, split);
  if (split.ranks == 1) {
    run_rank(GetParam(), nullptr, want);
    return;
  }
  std::vector<std::string> hashes(static_cast<std::size_t>(split.ranks));
  test::run_ranks(split.ranks, [&](comm::ProcessGroup& group) {
    hashes[static_cast<std::size_t>(group.rank())] = run_rank(GetParam(), &group, want);
  });
  for (const std::string& hash : hashes) EXPECT_EQ(hash, hashes[0]);
}

std::vector<Case> cases() {
  return {{"mobilenet_v2", {2}}, {"mobilenet_v2", {4}}, {"mobilenet_v2", {1, 3}},
          {"resnet50", {2}},     {"resnet50", {4}},     {"resnet50", {2, 2}},
          {"yolov5n", {2}},      {"yolov5n", {3}},      {"yolov5n", {2, 2}},
          {"bert_base", {2}},    {"bert_base", {4}},    {"bert_base", {2, 2}},
          {"bert_base", {1, 4}}};
}

std::string name_of_case(const testing::TestParamInfo<Case>& instance) {
  const test::Split& split = std::get<1>(instance.param);
  return std::get<0>(instance.param) + "_" + std::to_string(split.ranks) + "x" +
         std::to_string(split.micro_batches);
}

INSTANTIATE_TEST_SUITE_P(Models, RanksAgainstMicroBatches, testing::ValuesIn(cases()),
                         name_of_case);

/// Steps that each of 3 ranks did, and the measured seconds of rank 0.
std::pair<std::array<std::int64_t, 3>, double> run_three(Plan plan, std::int64_t stop_at) {
  std::array<std::int64_t, 3> steps{};
  double measured_s = 0;
  test::run_ranks(3, [&](comm::ProcessGroup& group) {
    test::Rank rank(plan, test::make_tiny_model(10), &group);
    rank.control().stop = [&] { return *rank.trainer().progress() >= stop_at; };
    rank.trainer().run();
    const WorkerRecords records = rank.records();
    steps[static_cast<std::size_t>(group.rank())] = records.warmup_steps + records.measured_steps;
    if (group.rank() == 0) measured_s = records.measured_end_s - records.measured_begin_s;
  });
  return {steps, measured_s};
}

TEST(Ranks, AStopInTheMiddleEndsAllOnTheSameStep) {
  Plan plan = test::small_plan(3, 4);
  plan.measured_steps = 1000000;
  const auto [steps, measured_s] = run_three(plan, 40);
  EXPECT_GE(steps[0], 40);
  EXPECT_LT(steps[0], 100000);
  EXPECT_EQ(steps[1], steps[0]);
  EXPECT_EQ(steps[2], steps[0]);
  EXPECT_GT(measured_s, 0);
}

TEST(Ranks, ABudgetOfSecondsEndsAllOnTheSameStep) {
  Plan plan = test::small_plan(3, 4);
  plan.measured_steps.reset();
  plan.spec.budget.seconds = 0.6;
  const auto [steps, measured_s] = run_three(plan, 1000000000);
  EXPECT_GT(steps[0], 3);
  EXPECT_EQ(steps[1], steps[0]);
  EXPECT_EQ(steps[2], steps[0]);
  EXPECT_GT(measured_s, 0.4);
  EXPECT_LT(measured_s, 3);
}

}  // namespace
}  // namespace falcon::train
