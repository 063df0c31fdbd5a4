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

TEST(Resolve, AnotherScheduleTakesNothingOfTheRecipesKind) {
  RunSpec spec = given("resnet50");
  spec.schedule.kind = "cosine";
  const ScheduleSpec schedule = resolve(spec, {}, "/specs", 1, true).spec.schedule;
  EXPECT_FALSE(schedule.step_epochs.has_value());
  EXPECT_FALSE(schedule.gamma.has_value());
  EXPECT_EQ(*schedule.end_lr, 0.0);
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
