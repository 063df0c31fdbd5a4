// The state of a model from and to weight files.
#include "models/weights.h"

#include <filesystem>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <falconbench/errors.h>

namespace falcon::models {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class WeightsTest : public testing::Test {
 protected:
  ~WeightsTest() override { std::filesystem::remove(path_); }
  weights::SafetensorsFile file() const { return weights::SafetensorsFile(path_); }
  std::string path_ = testing::TempDir() + "falcon_model_" + std::to_string(::getpid());
};

std::unique_ptr<Model> model_of(std::int64_t classes, std::uint64_t seed) {
  ModelOptions options;
  options.classes = classes;
  std::unique_ptr<Model> model = make_model("mobilenet_v2", options);
  model->initialize(seed);
  return model;
}

bool same(const Model& a, const Model& b) {
  const std::vector<NamedTensor> other = b.state();
  for (std::size_t i = 0; const NamedTensor& entry : a.state()) {
    if (!entry.tensor.equal(other[i++].tensor)) return false;
  }
  return true;
}

TEST_F(WeightsTest, AModelIsTheSameAfterTheWayThroughAFile) {
  const auto saved = model_of(10, 1);
  saved->buffers().front().tensor.fill_(0.25);
  saved->to(at::kCPU, at::kFloat, /*channels_last=*/true);
  const std::int64_t bytes = save_tensors(path_, saved->state(), {{"format", "pt"}});
  EXPECT_EQ(bytes, static_cast<std::int64_t>(std::filesystem::file_size(path_)));
  const auto loaded = model_of(10, 2);
  EXPECT_FALSE(same(*saved, *loaded));
  const WeightsRecord record = load_weights(*loaded, file());
  EXPECT_TRUE(same(*saved, *loaded));
  EXPECT_EQ(record.source, path_);
  EXPECT_EQ(record.loaded, 314);
  EXPECT_EQ(record.tensors, 314);
  EXPECT_EQ(record.missing + record.unused, 0);
  EXPECT_EQ(file().metadata().at("format"), "pt");
}

TEST_F(WeightsTest, SixteenBitWeightsAreWidened) {
  for (const at::ScalarType type : {at::kHalf, at::kBFloat16}) {
    std::vector<NamedTensor> state = model_of(10, 1)->state();
    for (NamedTensor& entry : state) {
      if (entry.tensor.is_floating_point()) entry.tensor = entry.tensor.detach().to(type);
    }
    save_tensors(path_, state, {});
    const auto loaded = model_of(10, 2);
    load_weights(*loaded, file());
    for (std::size_t i = 0; const NamedTensor& entry : loaded->state()) {
      EXPECT_TRUE(entry.tensor.equal(state[i++].tensor.to(entry.tensor.scalar_type())));
    }
  }
}

TEST_F(WeightsTest, WhatTheFileLacksKeepsItsValues) {
  const auto fresh = model_of(10, 2);
  const auto model = model_of(10, 2);
  std::vector<NamedTensor> state = model_of(10, 1)->state();
  const std::string first = state.front().name;
  state.erase(state.begin());
  state.push_back({"anchor_grid", at::arange(4)});
  save_tensors(path_, state, {});
  const WeightsRecord record = load_weights(*model, file());
  EXPECT_THAT(record.missing_names, ElementsAre(first));
  EXPECT_THAT(record.unused_names, ElementsAre("anchor_grid"));
  EXPECT_EQ(record.loaded, 313);
  EXPECT_TRUE(model->state()[0].tensor.equal(fresh->state()[0].tensor));
  EXPECT_FALSE(model->state()[6].tensor.equal(fresh->state()[6].tensor));
}

TEST_F(WeightsTest, AnotherShapeIsRefusedAndNothingIsLoaded) {
  save_tensors(path_, model_of(12, 1)->state(), {});
  const auto fresh = model_of(10, 2);
  const auto model = model_of(10, 2);
  for (const bool exactly : {false, true}) {
    try {
      if (exactly)
        load_exactly(file(), model->state());
      else
        load_weights(*model, file());
      FAIL() << "was accepted";
    } catch (const InputError& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      EXPECT_EQ(error.faults().size(), 2U);
      EXPECT_THAT(error.what(), HasSubstr("classifier.1.weight: has shape [12, 1280]"));
      EXPECT_THAT(error.what(), HasSubstr("[10, 1280]"));
    }
    EXPECT_TRUE(same(*model, *fresh));
  }
}

TEST_F(WeightsTest, ExactlyMeansAllOfThem) {
  const std::vector<NamedTensor> saved = {{"a", at::full({2}, 1.F)}, {"b", at::full({2}, 2.F)}};
  save_tensors(path_, saved, {});
  const std::vector<NamedTensor> wanted = {{"a", at::full({2}, 0.F)}, {"c", at::full({2}, 0.F)}};
  try {
    load_exactly(file(), wanted);
    FAIL() << "was accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("c: missing"));
  }
  EXPECT_TRUE(wanted[0].tensor.equal(at::full({2}, 0.F)));
  load_exactly(file(), {wanted[0]});
  EXPECT_TRUE(wanted[0].tensor.equal(saved[0].tensor));
}

TEST_F(WeightsTest, EveryTensorThatIsWrittenIsToldOf) {
  int told = 0;
  save_tensors(path_, {{"a", at::full({2}, 1.F)}, {"b", at::full({2}, 2.F)}}, {},
               [&told] { ++told; });
  EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace falcon::models
