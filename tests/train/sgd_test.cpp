// The fused update against its formula, written out with plain tensors.
#include "train/sgd.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include "train/step_reporter.h"

namespace falcon::train {
namespace {

OptimizerSpec options_of(double momentum, double decay, bool nesterov) {
  OptimizerSpec options;
  options.kind = "sgd";
  options.momentum = momentum;
  options.weight_decay = decay;
  options.nesterov = nesterov;
  return options;
}

struct Reference {
  OptimizerSpec options;
  std::vector<at::Tensor> values, velocities;

  void step(std::vector<at::Tensor> gradients, double lr) {
    if (options.clip_norm) {
      double squares = 0;
      for (const at::Tensor& g : gradients) squares += (g * g).sum().item<double>();
      const double factor = std::min(1.0, *options.clip_norm / (std::sqrt(squares) + 1e-6));
      for (at::Tensor& g : gradients) g = g * factor;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const at::Tensor g = gradients[i] + values[i] * *options.weight_decay;
      velocities[i] = velocities[i] * *options.momentum + g;
      values[i] = values[i] -
                  (*options.nesterov ? g + velocities[i] * *options.momentum : velocities[i]) * lr;
    }
  }
};

std::vector<at::Tensor> some_parameters(at::ScalarType type) {
  std::vector<at::Tensor> parameters{
      at::randn({6, 5, 3, 3}, type).contiguous(at::MemoryFormat::ChannelsLast),
      at::randn({7, 4, 1, 1}, type).as_strided({7, 4, 1, 1}, {4, 1, 4, 4}), at::randn({9}, type)};
  for (at::Tensor& parameter : parameters) parameter.set_requires_grad(true);
  return parameters;
}

void expect_formula(const OptimizerSpec& options, at::ScalarType type, double tolerance,
                    bool scaled) {
  std::vector<at::Tensor> parameters = some_parameters(type);
  Reference reference{options, {}, {}};
  for (const at::Tensor& p : parameters) {
    reference.values.push_back(p.detach().clone());
    reference.velocities.push_back(at::zeros_like(p));
  }
  Sgd sgd(parameters, options);
  LossScaler scaler(at::kCPU, {.init_scale = 1024, .growth_interval = 2});
  for (const double lr : {0.1, 0.02, 0.3}) {
    std::vector<at::Tensor> gradients;
    const double scale = scaled ? scaler.scale().item<double>() : 1;
    for (at::Tensor& p : parameters) {
      gradients.push_back(at::randn(p.sizes(), type));
      at::Tensor strided = at::zeros_like(p.detach());
      strided.copy_(gradients.back() * scale);
      p.mutable_grad() = strided;
    }
    sgd.step(at::full({}, lr, at::kDouble), scaled ? &scaler : nullptr);
    reference.step(gradients, lr);
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_TRUE(at::allclose(parameters[i].detach(), reference.values[i], tolerance, tolerance))
        << "parameter " << i;
  }
}

TEST(Sgd, FollowsItsFormula) {
  expect_formula(options_of(0.9, 1e-2, false), at::kDouble, 1e-13, false);
  expect_formula(options_of(0.9, 1e-2, true), at::kDouble, 1e-13, false);
  expect_formula(options_of(0, 0, false), at::kDouble, 1e-13, false);
  expect_formula(options_of(0.9, 1e-4, false), at::kFloat, 1e-5, false);
}

TEST(Sgd, DividesByTheLossScale) {
  expect_formula(options_of(0.9, 1e-2, false), at::kFloat, 1e-5, true);
}

TEST(Sgd, ClipsTheNormOverAllParameters) {
  OptimizerSpec options = options_of(0.9, 1e-2, false);
  options.clip_norm = 0.5;
  expect_formula(options, at::kDouble, 1e-13, false);
  expect_formula(options, at::kFloat, 1e-5, true);
  options.clip_norm = 1e6;  // larger than any norm here: no effect
  expect_formula(options, at::kDouble, 1e-13, false);
}

TEST(Sgd, AnOverflowInTheFirstStepLeavesEverythingAsItWas) {
  std::vector<at::Tensor> parameters{at::full({4}, 1.0).set_requires_grad(true)};
  Sgd sgd(parameters, options_of(0.9, 0, false));
  LossScaler scaler(at::kCPU);
  StepReporter reporter(at::kCPU, {0.5, 0.25}, 1);
  const auto step = [&](double gradient) {
    parameters[0].mutable_grad() = at::full({4}, gradient);
    sgd.step(reporter.lr(), &scaler);
    reporter.advance(at::full({}, 1.0), &scaler);
  };
  step(std::numeric_limits<double>::infinity());
  EXPECT_EQ(parameters[0][0].item<double>(), 1);
  EXPECT_EQ(reporter.report(1).skipped, 1);
  EXPECT_EQ(reporter.report(1).loss_scale, 32768);
  EXPECT_EQ(reporter.lr().item<double>(), 0.5) << "the schedule follows updates, not steps";
  step(32768);  // a gradient of 1, scaled
  EXPECT_EQ(parameters[0][0].item<double>(), 0.5);
  EXPECT_EQ(reporter.lr().item<double>(), 0.25);
  EXPECT_EQ(reporter.report(2).skipped, 1);
  EXPECT_EQ(*reporter.progress(), 2);
}

TEST(Sgd, DropsGradients) {
  std::vector<at::Tensor> parameters = some_parameters(at::kFloat);
  Sgd sgd(parameters, options_of(0.9, 0, false));
  parameters[0].mutable_grad() = at::zeros_like(parameters[0].detach());
  sgd.drop_gradients();
  EXPECT_FALSE(parameters[0].grad().defined());
}

}  // namespace
}  // namespace falcon::train
