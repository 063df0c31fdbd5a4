// Replicas in one process come to what one device comes to.
#include <gtest/gtest.h>

#include "train/micro_batches.h"
#include "train/training_kit.h"

namespace falcon::train {
namespace {

using Case = std::tuple<std::string, test::Split>;  // devices, and micro-batches of each

Plan dp_plan(const std::string& name, const test::Split& split) {
  Plan plan = test::compared_plan(name, split);
  plan.parallelism = "dp";
  plan.ranks.resize(1);
  plan.ranks[0].devices.resize(static_cast<std::size_t>(split.ranks), {"cpu", "", "", "CPU"});
  plan.micro_batch = test::kSliceBatch * split.ranks;
  plan.batch_per_rank = plan.micro_batch * split.micro_batches;
  return plan;
}

TrainerOptions with_replicas(const std::string& name, const test::Split& split) {
  TrainerOptions options = test::float64();
  options.more_devices.assign(static_cast<std::size_t>(split.ranks) - 1, at::kCPU);
  options.make_replica = [name, split](at::Device device) {
    std::unique_ptr<Model> replica = test::compared_model(name, split.slices());
    replica->to(device, at::kDouble, false);
    return replica;
  };
  return options;
}

class DpAgainstMicroBatches : public testing::TestWithParam<Case> {};

TEST_P(DpAgainstMicroBatches, SameGradientsParametersAndBuffers) {
  const auto& [name, split] = GetParam();
  const test::Outcome want = test::of_micro_batches(name, split);
  test::Rank rank(dp_plan(name, split), test::compared_model(name, split.slices()), nullptr,
                  with_replicas(name, split));
  rank.trainer().run();
  const test::Outcome got = test::outcome_of(rank.model());
  test::expect_near(got.parameters, want.parameters, "parameter");
  test::expect_near(got.gradients, want.gradients, "gradient");
  // the first device sees other slices then
  if (split.micro_batches == 1) test::expect_near(got.buffers, want.buffers, "buffer");
  const WorkerRecords records = rank.records();
  EXPECT_EQ(records.communication.calls_per_step, 2 * (split.ranks - 1));
  EXPECT_GE(records.communication.bytes_per_step, 2 * (split.ranks - 1) * records.parameters * 8);
  EXPECT_EQ(records.phases.ms.at("communication_exposed").size(), records.step_ms.size());
}

std::string name_of_case(const testing::TestParamInfo<Case>& instance) {
  const test::Split& split = std::get<1>(instance.param);
  return std::get<0>(instance.param) + "_" + std::to_string(split.ranks) + "x" +
         std::to_string(split.micro_batches);
}

INSTANTIATE_TEST_SUITE_P(Models, DpAgainstMicroBatches,
                         testing::Combine(testing::Values("mobilenet_v2", "resnet50", "yolov5n",
                                                          "bert_base", "bert_large"),
                                          testing::Values(test::Split{2, 1}, test::Split{4, 1},
                                                          test::Split{2, 2})),
                         name_of_case);

TEST(Dp, OneDeviceHasNothingToCopy) {
  const test::Split split{1, 1};
  test::Rank rank(dp_plan("bert_base", split), test::compared_model("bert_base", 1), nullptr,
                  with_replicas("bert_base", split));
  rank.trainer().run();
  const WorkerRecords records = rank.records();
  EXPECT_EQ(records.communication.bytes_per_step, 0);
  EXPECT_TRUE(records.phases.reasons.contains("communication_exposed"));
}

}  // namespace
}  // namespace falcon::train
