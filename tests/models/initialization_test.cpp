// Start values: distributions by their moments, and the same values for the same seed.
#include "models/initialization.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <falconbench/model.h>

namespace falcon::models {
namespace {

class Initialization : public testing::TestWithParam<std::string> {};

TEST_P(Initialization, IsAFunctionOfTheSeedAndUndoesTraining) {
  const ModelOptions options{.classes = 3, .layers = 1, .hidden_size = 16, .heads = 2};
  const std::unique_ptr<Model> model = make_model(GetParam(), options);
  const std::unique_ptr<Model> twin = make_model(GetParam(), options);
  for (const NamedTensor& entry : twin->state()) {
    entry.tensor.detach().fill_(7);
  }
  twin->to(at::kCPU, at::kFloat, /*channels_last=*/true);
  model->initialize(11);
  twin->initialize(11);
  const std::vector<NamedTensor> expected = model->state();
  std::size_t i = 0;
  for (const NamedTensor& entry : twin->state()) {
    EXPECT_TRUE(at::equal(entry.tensor, expected.at(i++).tensor)) << entry.name;
  }
  twin->initialize(12);
  EXPECT_FALSE(at::equal(twin->parameters().front().tensor, model->parameters().front().tensor));
}

INSTANTIATE_TEST_SUITE_P(Catalog, Initialization,
                         testing::Values("resnet50", "mobilenet_v2", "yolov5n"));

TEST(FillNormal, IsNormalInItsMomentsAndTails) {
  const at::Tensor x = at::zeros({1000001});  // odd: the last one has no partner
  fill_normal(x, 2, 42, "x");
  const at::Tensor z = x.to(at::kDouble).div(2);
  EXPECT_NEAR(z.mean().item<double>(), 0, 5e-3);
  EXPECT_NEAR(z.square().mean().item<double>(), 1, 7e-3);
  EXPECT_NEAR(z.pow(3).mean().item<double>(), 0, 2e-2);
  EXPECT_NEAR(z.pow(4).mean().item<double>(), 3, 5e-2);
  EXPECT_NEAR(z.abs().gt(1.959964).to(at::kDouble).mean().item<double>(), 0.05, 1.1e-3);
}

TEST(FillUniform, CoversItsInterval) {
  const at::Tensor x = at::zeros({100000});
  fill_uniform(x, 0.5, 42, "x");
  EXPECT_GE(x.min().item<double>(), -0.5);
  EXPECT_LT(x.min().item<double>(), -0.499);
  EXPECT_LT(x.max().item<double>(), 0.5);
  EXPECT_GT(x.max().item<double>(), 0.499);
  EXPECT_NEAR(x.square().mean().item<double>(), 0.25 / 3, 1e-3);
}

TEST(FillNormal, OfTwoNamesIsUnrelated) {
  const at::Tensor x = at::zeros({100000});
  const at::Tensor y = at::zeros({100000});
  fill_normal(x, 1, 42, "x");
  fill_normal(y, 1, 42, "y");
  EXPECT_NEAR(x.mul(y).mean().item<double>(), 0, 0.02);
}

}  // namespace
}  // namespace falcon::models
