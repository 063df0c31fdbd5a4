// Defaults: what they are and why they are said to be so.
#include "plan/resolve.h"

#include <gtest/gtest.h>

#include "made_host.h"

namespace falcon::plan {
namespace {

RunSpec given(const std::string& model) {
  RunSpec spec;
  spec.name = "test";
  spec.model = model;
  return spec;
}

TEST(Resolve, FillsTheReferenceRecipe) {
  const ResolvedSpec resolved = resolve(given("resnet50"), {}, "/specs", 4, true);
  const RunSpec& spec = resolved.spec;
  EXPECT_EQ(*spec.optimizer.lr, 0.1);
  EXPECT_EQ(*spec.schedule.kind, "step");
  EXPECT_EQ(*spec.schedule.step_epochs, 30);
  EXPECT_EQ(*spec.batch_size.per_gpu, 128);
  EXPECT_EQ(*spec.precision, "fp16");
  EXPECT_EQ(spec.parallelism.kind, "ddp");
  EXPECT_EQ(*spec.budget.steps, 100);
  EXPECT_EQ(resolved.origin.at("optimizer.lr"), "default of the model resnet50");
  EXPECT_EQ(resolved.origin.at("seed"), "default");
}

TEST(Resolve, FillsTheRecipeOfATokenModelAndNothingOfPictures) {
  const RunSpec spec = resolve(given("bert_large"), {}, "/specs", 8, true).spec;
  EXPECT_EQ(*spec.sequence_length, 384);
  EXPECT_FALSE(spec.image_size.has_value());
  EXPECT_FALSE(spec.engine.channels_last.has_value());
  EXPECT_EQ(*spec.batch_size.per_gpu, 6);
  EXPECT_EQ(*spec.optimizer.kind, "adamw");
  EXPECT_EQ(*spec.optimizer.lr, 3e-5);
  EXPECT_EQ(*spec.optimizer.decay, "weights");
  EXPECT_EQ(*spec.optimizer.clip_norm, 1);
  EXPECT_FALSE(spec.optimizer.momentum.has_value());
  EXPECT_EQ(*spec.schedule.kind, "linear");
  EXPECT_EQ(*spec.schedule.epochs, 2);
  EXPECT_EQ(*spec.schedule.warmup_ratio, 0.1);
}

TEST(Resolve, OneDeviceOnTheCpu) {
  const RunSpec spec = resolve(given("mobilenet_v2"), {}, "/specs", 1, false).spec;
  EXPECT_EQ(spec.topology.name, "cpu");
  EXPECT_EQ(spec.parallelism.kind, "none");
  EXPECT_EQ(*spec.precision, "fp32");
}

TEST(Resolve, KeepsWhatIsGivenAndItsOrigin) {
  RunSpec spec = given("resnet50");
  spec.optimizer.lr = 0.5;
  spec.batch_size.global = 64;
  const ResolvedSpec resolved = resolve(spec, {{"optimizer.lr", "a.yaml:7"}}, "/specs", 2, true);
  EXPECT_EQ(*resolved.spec.optimizer.lr, 0.5);
  EXPECT_EQ(resolved.origin.at("optimizer.lr"), "a.yaml:7");
  EXPECT_FALSE(resolved.spec.batch_size.per_gpu.has_value());
}

// The rows of schedules.json (batch 16, 24, 64, 128), the study's 88, and what a user says.
TEST(Resolve, WeightDecayOfYolov5FollowsTheGlobalBatch) {
  for (const auto& [batch, decay] :
       {std::pair{16, 0.0005}, {24, 0.0005625}, {64, 0.0005}, {88, 0.0006875}, {128, 0.001}}) {
    RunSpec spec = given("yolov5l");
    spec.batch_size.global = batch;
    EXPECT_DOUBLE_EQ(*resolve(spec, {}, "/specs", 2, true).spec.optimizer.weight_decay, decay);
  }
  EXPECT_DOUBLE_EQ(*resolve(given("yolov5l"), {}, "/specs", 8, true).spec.optimizer.weight_decay,
                   0.0006875);
  RunSpec spec = given("yolov5l");
  spec.optimizer.weight_decay = 0.25;
  EXPECT_EQ(*resolve(spec, {}, "/specs", 8, true).spec.optimizer.weight_decay, 0.25);
}

TEST(Resolve, AnotherScheduleTakesNothingOfTheRecipesKind) {
  RunSpec spec = given("resnet50");
  spec.schedule.kind = "cosine";
  const ScheduleSpec schedule = resolve(spec, {}, "/specs", 1, true).spec.schedule;
  EXPECT_FALSE(schedule.step_epochs.has_value());
  EXPECT_FALSE(schedule.gamma.has_value());
  EXPECT_EQ(*schedule.end_lr, 0.0);
}

TEST(Resolve, AnotherOptimizerTakesNothingOfTheRecipesKind) {
  RunSpec spec = given("resnet50");
  spec.optimizer.kind = "adamw";
  const OptimizerSpec optimizer = resolve(spec, {}, "/specs", 1, true).spec.optimizer;
  EXPECT_FALSE(optimizer.momentum.has_value());
  EXPECT_FALSE(optimizer.nesterov.has_value());
  EXPECT_EQ(*optimizer.lr, 0.001);
  EXPECT_EQ(*optimizer.beta1, 0.9);
  EXPECT_EQ(*optimizer.beta2, 0.999);
  EXPECT_EQ(*optimizer.eps, 1e-8);
  EXPECT_EQ(*optimizer.weight_decay, 1e-4);
  EXPECT_EQ(*optimizer.decay, "all");
}

TEST(Resolve, AScheduleByStepHasOneLengthAndOneWarmUp) {
  RunSpec spec = given("resnet50");
  spec.schedule.kind = "linear";
  const ScheduleSpec by_epoch = resolve(spec, {}, "/specs", 1, true).spec.schedule;
  EXPECT_EQ(*by_epoch.epochs, 90);
  EXPECT_EQ(*by_epoch.warmup_ratio, 0);
  EXPECT_FALSE(by_epoch.warmup_epochs.has_value());
  EXPECT_FALSE(by_epoch.warmup_start.has_value());
  spec.schedule.steps = 1000;
  spec.schedule.warmup_steps = 100;
  const ScheduleSpec by_step = resolve(spec, {}, "/specs", 1, true).spec.schedule;
  EXPECT_FALSE(by_step.epochs.has_value());
  EXPECT_FALSE(by_step.warmup_ratio.has_value());
}

TEST(Resolve, PathsBecomeAbsoluteButNotBelowAStorage) {
  RunSpec spec = given("resnet50");
  spec.data.path = "../data/a";
  EXPECT_EQ(resolve(spec, {}, "/specs", 1, true).spec.data.path, "/data/a");
  spec.storage = "localNVMe";
  EXPECT_EQ(resolve(spec, {}, "/specs", 1, true).spec.data.path, "../data/a");
}

TEST(Resolve, MadeDataHasTheFormatsDefaults) {
  RunSpec spec = given("resnet50");
  spec.data.format = "imagefolder";
  spec.data.make = MakeSpec{.train = 20, .side = 100};
  const ResolvedSpec resolved = resolve(spec, {}, "/specs", 1, true);
  EXPECT_EQ(resolved.spec.data.make->train, 20);
  EXPECT_EQ(resolved.spec.data.make->classes, 4);
  EXPECT_EQ(resolved.spec.data.make->side, 100);
  EXPECT_EQ(resolved.spec.data.make->quality, 90);
  EXPECT_EQ(resolved.origin.at("data.make.classes"), "default of the format imagefolder");
  EXPECT_EQ(resolved.origin.at("data.make.side"), "default");  // the test gives no origin
}

// data.train, data.make.version -> the files.
TEST(Resolve, FilesOfSquadAreOfOneVersion) {
  struct Row {
    const char* train;
    const char* version;
    const char *resolved_train, *resolved_val, *origin;
  };
  for (const Row& row : {
           Row{"", "", "train-v1.1.json", "dev-v1.1.json", "default of the format squad"},
           Row{"", "v2.0", "train-v2.0.json", "dev-v2.0.json",
               "default of the format squad, as data.make.version"},
           Row{"train-v2.0.json", "", "train-v2.0.json", "dev-v2.0.json",
               "default of the format squad, as data.train"},
           Row{"b/train-mine.json", "", "b/train-mine.json", "b/dev-mine.json",
               "default of the format squad, as data.train"},
           Row{"mine.json", "", "mine.json", "dev-v1.1.json", "default of the format squad"},
       }) {
    RunSpec spec = given("bert_base");
    spec.evaluate = true;
    spec.data.format = "squad";
    if (*row.train != '\0') spec.data.train = row.train;
    if (*row.version != '\0') spec.data.make = MakeSpec{.train = 20, .version = row.version};
    const ResolvedSpec resolved = resolve(spec, {}, "/specs", 1, true);
    EXPECT_EQ(resolved.spec.data.train, row.resolved_train);
    EXPECT_EQ(resolved.spec.data.val, row.resolved_val);
    EXPECT_EQ(resolved.origin.at("data.val"), row.origin);
    const DataSpec again = resolve(resolved.spec, {}, "/specs", 1, true).spec.data;
    EXPECT_EQ(again.val, resolved.spec.data.val);
    spec.evaluate = false;
    EXPECT_FALSE(resolve(spec, {}, "/specs", 1, true).spec.data.val);
  }
}

TEST(Resolve, SquadIsMadeInTheVersionOfTheNamedFile) {
  RunSpec spec = given("bert_base");
  spec.data.format = "squad";
  spec.data.train = "train-v2.0.json";
  spec.data.make = MakeSpec{.train = 20};
  EXPECT_EQ(resolve(spec, {}, "/specs", 1, true).spec.data.make->version, "v2.0");
  spec.data.train = "train-mine.json";
  EXPECT_EQ(resolve(spec, {}, "/specs", 1, true).spec.data.make->version, "v1.1");
}

TEST(Resolve, ResolvingAgainChangesNothing) {
  const RunSpec once = resolve(given("mobilenet_v2"), {}, "/specs", 2, true).spec;
  const RunSpec twice = resolve(once, {}, "/elsewhere", 2, true).spec;
  EXPECT_EQ(twice.topology, once.topology);
  EXPECT_EQ(twice.optimizer.lr, once.optimizer.lr);
  EXPECT_EQ(twice.schedule.gamma, once.schedule.gamma);
  EXPECT_EQ(twice.parallelism.kind, once.parallelism.kind);
}

}  // namespace
}  // namespace falcon::plan
