// A run that goes on from a checkpoint is the run that never stopped.
#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include <falconbench/errors.h>

#include "comm/ranks.h"
#include "models/weights.h"
#include "train/moving_average.h"
#include "train/training_kit.h"

namespace falcon::train {
namespace {

namespace fs = std::filesystem;

/// Ten steps after no warm-up, a checkpoint after the sixth.
Plan plan_of(int world, const std::string& file) {
  Plan plan = test::small_plan(world, 4);
  plan.spec.model = "mobilenet_v2";
  plan.data.samples = *plan.spec.data.samples = 20;  // 5 or 2 steps an epoch
  plan.steps_per_epoch = 20 / plan.global_batch;
  plan.spec.optimizer.lr = 0.01;
  plan.spec.schedule.kind = "step";  // the rate changes with the epoch
  plan.spec.schedule.step_epochs = 1;
  plan.spec.schedule.gamma = 0.5;
  plan.warmup_steps = 0;
  plan.measured_steps = 10;
  plan.files.checkpoint = file;
  plan.checkpoint_steps = 6;
  return plan;
}

Plan resumed(Plan plan) {
  plan.files.resume = plan.files.checkpoint;
  plan.files.checkpoint.clear();
  plan.checkpoint_steps.reset();
  plan.first_step = 6;
  plan.measured_steps = 4;
  return plan;
}

class CheckpointTest : public testing::Test {
 protected:
  ~CheckpointTest() override { fs::remove_all(folder_); }
  std::string file() const { return folder_ + "/deep/checkpoint.safetensors"; }
  std::string folder_ = testing::TempDir() + "falcon_checkpoint_" + std::to_string(::getpid());
};

/// With dropout, momentum, weight decay, and statistics of batch normalisation.
std::unique_ptr<Model> model() {
  ModelOptions options;
  options.classes = 10;
  return make_model("mobilenet_v2", options);
}

void expect_tail(const WorkerRecords& whole, const WorkerRecords& tail) {
  ASSERT_EQ(whole.loss.size(), 10U);
  ASSERT_EQ(tail.loss.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(tail.loss[i].has_value()) << "step " << 6 + i << " is not finite";
    EXPECT_EQ(tail.loss[i], whole.loss[6 + i]) << "step " << 6 + i;
    EXPECT_EQ(tail.lr[i], whole.lr[6 + i]) << "step " << 6 + i;
  }
  EXPECT_NE(whole.lr[0], whole.lr[9]);
  EXPECT_EQ(tail.parameter_hash, whole.parameter_hash);
}

TEST_F(CheckpointTest, ResumesBitForBit) {
  for (const char* kind : {"sgd", "adamw"}) {
    Plan plan = plan_of(1, file());
    plan.spec.optimizer.kind = kind;
    if (plan.spec.optimizer.kind == "adamw") {
      plan.spec.optimizer.beta1 = 0.9;
      plan.spec.optimizer.beta2 = 0.99;
      plan.spec.optimizer.eps = 1e-8;
      plan.spec.optimizer.lr = 1e-3;
    }
    test::Rank whole(plan, model(), nullptr);
    whole.trainer().run();
    const WorkerRecords records = whole.records();
    ASSERT_EQ(records.pauses.size(), 1U);
    EXPECT_EQ(records.pauses[0].step, 6);
    EXPECT_EQ(records.pauses[0].file, file());
    EXPECT_EQ(records.pauses[0].bytes, static_cast<std::int64_t>(fs::file_size(file())));
    EXPECT_EQ(whole.control().phases, (std::vector<std::string>{"checkpoint", "measure"}));
    test::Rank rest(resumed(plan), model(), nullptr);
    rest.trainer().run();
    expect_tail(records, rest.records());
    // buffers too: evaluation goes by them
    const auto buffers = rest.model().buffers();
    for (std::size_t i = 0; const NamedTensor& entry : whole.model().buffers()) {
      EXPECT_TRUE(entry.tensor.equal(buffers[i++].tensor)) << entry.name;
    }
  }
}

/// What is kept are the masters, and what was rounded from them is rounded again.
TEST_F(CheckpointTest, Resumes16BitWeightsBitForBit) {
  Plan plan = plan_of(1, file());
  plan.spec.precision = "bf16";
  test::Rank whole(plan, test::make_tiny_model(10), nullptr);
  whole.trainer().run();
  test::Rank rest(resumed(plan), test::make_tiny_model(10), nullptr);
  rest.trainer().run();
  EXPECT_GT(rest.records().memory.master_bytes, 0);
  expect_tail(whole.records(), rest.records());
}

/// The average goes on as well: it is what is evaluated and saved.
TEST_F(CheckpointTest, ResumesTheMovingAverageBitForBit) {
  Plan plan = plan_of(1, file());
  plan.spec.optimizer.ema_decay = 0.99;
  test::Rank whole(plan, model(), nullptr);
  whole.trainer().run();
  test::Rank rest(resumed(plan), model(), nullptr);
  rest.trainer().run();
  expect_tail(whole.records(), rest.records());
  const std::vector<NamedTensor> kept = rest.trainer().averages();
  ASSERT_FALSE(kept.empty());
  for (std::size_t i = 0; const NamedTensor& entry : whole.trainer().averages()) {
    EXPECT_EQ(entry.name, kept[i].name);
    EXPECT_TRUE(entry.tensor.equal(kept[i++].tensor)) << entry.name;
  }
  EXPECT_FALSE(kept.front().tensor.equal(rest.model().state().front().tensor));
}

TEST_F(CheckpointTest, ResumesBitForBitOnTwoRanks) {
  std::vector<WorkerRecords> whole(2), rest(2);
  // dropout draws from one generator of the process, which threads of two ranks would share
  const auto quiet = [] {
    ModelOptions options;
    options.classes = 10;
    options.dropout = 0;
    return make_model("mobilenet_v2", options);
  };
  const auto run = [&](const Plan& plan, std::vector<WorkerRecords>& records) {
    test::run_ranks(2, [&](comm::ProcessGroup& group) {
      test::Rank rank(plan, quiet(), &group);
      rank.trainer().run();
      records[static_cast<std::size_t>(group.rank())] = rank.records();
    });
  };
  run(plan_of(2, file()), whole);
  run(resumed(plan_of(2, file())), rest);
  for (std::size_t rank = 0; rank < 2; ++rank) expect_tail(whole[rank], rest[rank]);
  EXPECT_EQ(whole[1].pauses.at(0).bytes, 0) << "rank 0 writes";
  EXPECT_GE(whole[1].pauses.at(0).end_s, whole[1].pauses.at(0).begin_s);
}

TEST_F(CheckpointTest, TheStepsAreTimedWithoutIt) {
  Plan plan = plan_of(1, file());
  plan.checkpoint_steps = 2;
  const WorkerRecords records = test::run_alone(plan, test::make_tiny_model(10));
  ASSERT_EQ(records.pauses.size(), 5U);
  double steps_s = 0;
  for (const double ms : records.step_ms) steps_s += ms / 1e3;
  double paused_s = 0;
  for (std::size_t i = 0; i < 4; ++i) {  // the last one comes after the last step
    paused_s += records.pauses[i].end_s - records.pauses[i].begin_s;
  }
  EXPECT_GT(paused_s, 0);
  EXPECT_NEAR(records.measured_end_s - records.measured_begin_s, steps_s + paused_s, 1e-6);
  EXPECT_EQ(records.pauses[4].begin_s, records.measured_end_s);
}

TEST_F(CheckpointTest, IsAWeightFileToo) {
  const Plan plan = plan_of(1, file());
  test::Rank rank(plan, test::make_tiny_model(10), nullptr);
  rank.trainer().run();
  const std::unique_ptr<Model> other = test::make_tiny_model(10);
  const WeightsRecord record =
      models::load_weights(*other, weights::SafetensorsFile(plan.files.checkpoint));
  EXPECT_EQ(record.loaded, 3);
  EXPECT_EQ(record.unused, 3) << "the velocities";
}

TEST_F(CheckpointTest, OfAnotherModelIsRefusedWhole) {
  const Plan plan = plan_of(1, file());
  test::run_alone(plan, test::make_tiny_model(10));
  try {
    test::Rank rank(resumed(plan), test::make_tiny_model(12), nullptr);
    FAIL() << "was accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.faults().size(), 4U) << error.what();  // weight, bias and their velocities
  }
}

}  // namespace
}  // namespace falcon::train
