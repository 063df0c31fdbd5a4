// --set over a spec file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec_files.h"

namespace falcon::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Settings : public testing::Test {
 protected:
  RunSpec loaded(const std::vector<std::string>& settings) const {
    return load(file_, settings).spec;
  }
  SpecFolder folder_;
  std::string file_ =
      folder_.write("run.yaml",
                    "model: resnet50\nbatch_size: {per_gpu: 8}\nbudget: {epochs: 2}\n"
                    "parallelism: {ddp: {bucket_mb: 10}}\ndata: {samples: 1000}\nengine:\n");
};

TEST_F(Settings, ReplaceOneValueAndLeaveItsNeighbours) {
  const RunSpec spec = loaded({"data.loader.threads=3", "seed=7", "engine.fused=off"});
  EXPECT_EQ(spec.data.loader.threads, 3);
  EXPECT_EQ(spec.data.samples, 1000);
  EXPECT_EQ(spec.seed, 7);
  EXPECT_EQ(spec.engine.fused, "off");
}

TEST_F(Settings, TheLastOneWins) {
  EXPECT_EQ(loaded({"seed=7", "seed=8"}).seed, 8);
}

TEST_F(Settings, TheOtherBranchOfAChoiceReplacesIt) {
  const RunSpec spec = loaded({"batch_size.global=64", "budget.seconds=1.5"});
  EXPECT_EQ(spec.batch_size.global, 64);
  EXPECT_FALSE(spec.batch_size.per_gpu.has_value());
  EXPECT_EQ(spec.budget.seconds, 1.5);
  EXPECT_FALSE(spec.budget.epochs.has_value());
}

TEST_F(Settings, OptionsOfAWordMakeItAMap) {
  const RunSpec merged = loaded({"parallelism.ddp.first_bucket_mb=2"});
  EXPECT_EQ(merged.parallelism.ddp.bucket_mb, 10);
  EXPECT_EQ(merged.parallelism.ddp.first_bucket_mb, 2);
  EXPECT_EQ(loaded({"parallelism=none"}).parallelism.kind, "none");
  const RunSpec back = loaded({"parallelism=none", "parallelism.ddp.bucket_mb=3"});
  EXPECT_EQ(back.parallelism.kind, "ddp");
  EXPECT_EQ(back.parallelism.ddp.bucket_mb, 3);
}

TEST_F(Settings, ValueIsOneYamlValueTakenWhole) {
  const RunSpec spec = loaded({"topology=[0000:18:00.0, \"b,c\"]", "batch_size={global: 32}",
                               "name=a, b = c", "telemetry.samplers=[]"});
  EXPECT_THAT(spec.topology.items, ElementsAre("0000:18:00.0", "b,c"));
  EXPECT_EQ(spec.batch_size.global, 32);
  EXPECT_EQ(spec.name, "a, b = c");
  EXPECT_THAT(*spec.telemetry.samplers, ElementsAre());
}

TEST_F(Settings, AWrongShapeInTheFileCanBeSetRight) {
  const std::string bad = folder_.write("bad.yaml", "model: resnet50\nbatch_size: 64\n");
  EXPECT_EQ(load(bad, {"batch_size.per_gpu=4"}).spec.batch_size.per_gpu, 4);
}

TEST_F(Settings, AMapThatIsNoneInTheFileIsNamedThere) {
  const std::string bad = folder_.write("bad.yaml", "model: resnet50\ndata: synthetic\n");
  EXPECT_THAT(refusal(bad, {"data.samples=4"}),
              StartsWith("bad.yaml:2:7: data: expected a map with the keys format, path"));
}

TEST_F(Settings, UnknownKeysGetTheNearestOne) {
  EXPECT_EQ(refusal(file_, {"presision=fp16"}),
            "--set: presision: unknown key, did you mean precision?");
  EXPECT_EQ(refusal(file_, {"bucket_mb=3"}),
            "--set: bucket_mb: unknown key, did you mean parallelism.ddp.bucket_mb?");
  EXPECT_EQ(refusal(file_, {"data.loader.thread=3"}),
            "--set: data.loader.thread: unknown key, did you mean threads?");
  EXPECT_EQ(refusal(file_, {"seed.x=3"}), "--set: seed.x: seed has no keys below it");
  EXPECT_THAT(refusal(file_, {"batch_size..x=3"}), HasSubstr("unknown key; known here: global"));
}

TEST_F(Settings, AllAreCheckedAtOnce) {
  const std::string text =
      refusal(file_, {"nothing", "=3", "data={samples: [}", "seed=x", "warmup_steps=.inf"});
  EXPECT_THAT(text, HasSubstr("--set: expected key=VALUE, got \"nothing\""));
  EXPECT_THAT(text, HasSubstr("--set: expected key=VALUE, got \"=3\""));
  EXPECT_THAT(text, HasSubstr("--set: data: invalid YAML"));
  EXPECT_THAT(text, HasSubstr("--set: seed: expected a whole number, got \"x\""));
  EXPECT_THAT(text, HasSubstr("--set: warmup_steps: expected a whole number, got \".inf\""));
}

}  // namespace
}  // namespace falcon::spec
