// The fused updates against their formulas, written out with plain tensors.
#include "train/optimizer.h"

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
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/catalog.h"
#include "train/step_reporter.h"

namespace falcon::train {
namespace {

OptimizerSpec sgd(double momentum, double decay, bool nesterov) {
  OptimizerSpec options;
  options.kind = "sgd";
  options.momentum = momentum;
  options.weight_decay = decay;
  options.decay = "all";
  options.nesterov = nesterov;
  return options;
}

OptimizerSpec adamw(const char* decay) {
  OptimizerSpec options;
  options.kind = "adamw";
  options.beta1 = 0.8;
  options.beta2 = 0.95;
  options.eps = 1e-3;
  options.weight_decay = 0.1;
  options.decay = decay;
  return options;
}

/// Two filters, a bias and a norm weight, of values around 0.
std::vector<NamedTensor> some_parameters(at::ScalarType type) {
  std::vector<NamedTensor> parameters{
      {"a.weight", at::randn({6, 5, 3, 3}, type).contiguous(at::MemoryFormat::ChannelsLast)},
      {"b.weight", at::randn({7, 4, 1, 1}, type).as_strided({7, 4, 1, 1}, {4, 1, 4, 4})},
      {"b.bias", at::randn({9}, type)},
      {"norm.weight", at::randn({11}, type)}};
  for (NamedTensor& parameter : parameters) parameter.tensor.set_requires_grad(true);
  return parameters;
}

bool is_spared(const std::string& name) {
  return name == "b.bias" || name == "norm.weight";
}

/// What a step does to one parameter, in plain tensors.
struct Reference {
  OptimizerSpec options;
  std::vector<std::string> names;
  std::vector<at::Tensor> values, first, second;
  int steps = 0;

  explicit Reference(OptimizerSpec spec, const std::vector<NamedTensor>& parameters)
      : options(std::move(spec)) {
    for (const NamedTensor& p : parameters) {
      names.push_back(p.name);
      values.push_back(p.tensor.detach().clone());
      first.push_back(at::zeros_like(values.back()));
      second.push_back(at::zeros_like(values.back()));
    }
  }

  void step(std::vector<at::Tensor> gradients, const ops::RateRow& row) {
    ++steps;
    if (options.clip_norm) {
      double squares = 0;
      for (const at::Tensor& g : gradients) squares += (g * g).sum().item<double>();
      const double factor = std::min(1.0, *options.clip_norm / (std::sqrt(squares) + 1e-6));
      for (at::Tensor& g : gradients) g = g * factor;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double lr = names[i].ends_with("bias") ? row.bias_lr : row.lr;
      const bool decays = options.decay == "all" || !is_spared(names[i]);
      const double decay = decays ? *options.weight_decay : 0;
      options.kind == "sgd" ? sgd_step(i, gradients[i], lr, decay, row.momentum)
                            : adamw_step(i, gradients[i], lr, decay);
    }
  }
  void sgd_step(std::size_t i, const at::Tensor& gradient, double lr, double decay,
                double momentum) {
    const at::Tensor g = gradient + values[i] * decay;
    first[i] = first[i] * momentum + g;
    values[i] = values[i] - (*options.nesterov ? g + first[i] * momentum : first[i]) * lr;
  }
  void adamw_step(std::size_t i, const at::Tensor& g, double lr, double decay) {
    const double b1 = *options.beta1;
    const double b2 = *options.beta2;
    first[i] = first[i] * b1 + g * (1 - b1);
    second[i] = second[i] * b2 + g * g * (1 - b2);
    const at::Tensor mean = first[i] / (1 - std::pow(b1, steps));
    const at::Tensor root = (second[i] / (1 - std::pow(b2, steps))).sqrt();
    values[i] = values[i] * (1 - lr * decay) - mean / (root + *options.eps) * lr;
  }
};

std::unique_ptr<Optimizer> optimizer_of(const std::vector<NamedTensor>& parameters,
                                        const OptimizerSpec& options, const RateRows& rows) {
  return make_optimizer(whole_slices(parameters),
                        parameters[0].tensor.options().requires_grad(false), options, rows);
}

struct Way {
  at::ScalarType type = at::kDouble;
  double tolerance = 1e-13;
  bool scaled = false;
};

RateRows rows_with(const OptimizerSpec& options, const std::vector<double>& rates) {
  RateRows rows;
  for (const double lr : rates) rows.by_update.push_back({lr, lr, options.momentum.value_or(0)});
  rows.by_epoch = {rows.by_update.back()};
  return rows;
}

void expect_formula(const OptimizerSpec& options, const RateRows& rows, const Way& way) {
  const std::vector<NamedTensor> parameters = some_parameters(way.type);
  Reference reference(options, parameters);
  const auto optimizer = optimizer_of(parameters, options, rows);
  StepReporter reporter(at::kCPU, rows, 1);
  LossScaler scaler(at::kCPU, {.init_scale = 1024, .growth_interval = 2});
  for (const ops::RateRow& row : rows.by_update) {
    std::vector<at::Tensor> gradients;
    const double scale = way.scaled ? scaler.scale().item<double>() : 1;
    for (const NamedTensor& p : parameters) {
      gradients.push_back(at::randn(p.tensor.sizes(), way.type));
      at::Tensor strided = at::zeros_like(p.tensor.detach());
      strided.copy_(gradients.back() * scale);
      p.tensor.mutable_grad() = strided;
    }
    optimizer->step(reporter.rates(), way.scaled ? &scaler : nullptr);
    reporter.advance(at::full({}, 1.0), way.scaled ? &scaler : nullptr);
    reference.step(gradients, row);
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_TRUE(at::allclose(parameters[i].tensor.detach(), reference.values[i], way.tolerance,
                             way.tolerance))
        << parameters[i].name;
  }
}

const Way kDouble{};
const Way kFloat{at::kFloat, 1e-5, false};
const Way kScaled{at::kFloat, 1e-5, true};

void expect_formula(const OptimizerSpec& options, const Way& way) {
  expect_formula(options, rows_with(options, {0.1, 0.02, 0.3}), way);
}

TEST(Sgd, FollowsItsFormula) {
  expect_formula(sgd(0.9, 1e-2, false), kDouble);
  expect_formula(sgd(0.9, 1e-2, true), kDouble);
  expect_formula(sgd(0, 0, false), kDouble);
  expect_formula(sgd(0.9, 1e-4, false), kFloat);
}

TEST(Sgd, DividesByTheLossScale) {
  expect_formula(sgd(0.9, 1e-2, false), kScaled);
}

TEST(Sgd, FollowsTheRowsOfTheSchedule) {
  OptimizerSpec options = sgd(0.9, 1e-2, true);
  options.decay = "weights";
  RateRows rows;
  rows.by_update = {{0.0, 0.1, 0.8}, {0.1, 0.05, 0.85}, {0.2, 0.2, 0.9}};
  rows.by_epoch = {{0.2, 0.2, 0.9}};
  expect_formula(options, rows, kDouble);
  expect_formula(options, rows, kScaled);
}

TEST(AdamW, FollowsItsFormula) {
  expect_formula(adamw("all"), kDouble);
  expect_formula(adamw("weights"), kDouble);
  expect_formula(adamw("weights"), kFloat);
  expect_formula(adamw("weights"), kScaled);
  RateRows from_zero = rows_with(adamw("all"), {0.0, 0.02, 0.3});
  expect_formula(adamw("all"), from_zero, kDouble);  // a rate of 0 is an update all the same
}

/// Values with 16-bit copies that gradients come for, against the same values with the gradients
/// widened.
void expect_copies_follow(const OptimizerSpec& options) {
  const RateRows rows = rows_with(options, {0.1, 0.02, 0.3});
  const std::vector<NamedTensor> wide = some_parameters(at::kFloat);
  std::vector<Slice> slices;
  for (const NamedTensor& p : wide) {
    const at::Tensor copy = p.tensor.detach().to(at::kBFloat16).set_requires_grad(true);
    const bool is_narrow = p.name != "norm.weight";
    slices.push_back({{p.name, is_narrow ? copy : p.tensor.detach().clone()},
                      p.tensor.detach().clone(),
                      {},
                      is_narrow ? copy.detach() : at::Tensor()});
    if (!is_narrow) slices.back().values = slices.back().parameter.tensor;
  }
  const auto got = make_optimizer(slices, at::TensorOptions().dtype(at::kFloat), options, rows);
  const auto want = optimizer_of(wide, options, rows);
  StepReporter reporter(at::kCPU, rows, 1);
  LossScaler scaler(at::kCPU, {.init_scale = 1024});
  LossScaler twin(at::kCPU, {.init_scale = 1024});
  for (int step = 0; step < 4; ++step) {
    for (std::size_t i = 0; i < wide.size(); ++i) {
      at::Tensor gradient = at::zeros_like(slices[i].parameter.tensor.detach());
      gradient.copy_(at::randn(gradient.sizes()) * 1024);
      if (step == 2 && i == 1) gradient.fill_(std::numeric_limits<float>::infinity());
      slices[i].parameter.tensor.mutable_grad() = gradient;
      wide[i].tensor.mutable_grad() = gradient.to(at::kFloat, false, /*copy=*/true);
    }
    got->step(reporter.rates(), &scaler);
    want->step(reporter.rates(), &twin);
    reporter.advance(at::full({}, 1.0), &scaler);
    EXPECT_EQ(scaler.found_inf().item<double>(), step == 2 ? 1 : 0);
    for (std::size_t i = 0; i < wide.size(); ++i) {
      EXPECT_TRUE(at::allclose(slices[i].values, wide[i].tensor.detach(), 1e-5, 1e-6)) << i;
      if (!slices[i].copy.defined()) continue;
      EXPECT_TRUE(at::equal(slices[i].copy, slices[i].values.to(at::kBFloat16))) << i;
    }
  }
}

TEST(Optimizer, RoundsTheCopiesOfWhatItUpdates) {
  for (OptimizerSpec options : {sgd(0.9, 1e-2, true), sgd(0, 0, false), adamw("weights")}) {
    expect_copies_follow(options);
    options.clip_norm = 0.5;
    expect_copies_follow(options);
  }
}

TEST(Optimizer, ClipsTheNormOverAllParameters) {
  for (OptimizerSpec options : {sgd(0.9, 1e-2, false), adamw("weights")}) {
    options.clip_norm = 0.5;
    expect_formula(options, kDouble);
    expect_formula(options, kFloat);
    expect_formula(options, kScaled);
    options.clip_norm = 1e6;  // larger than any norm here: no effect
    expect_formula(options, kDouble);
  }
}

TEST(Optimizer, AnOverflowInTheFirstStepLeavesEverythingAsItWas) {
  for (OptimizerSpec options : {sgd(0.9, 0, false), adamw("all")}) {
    options.clip_norm = 1;
    const at::Tensor value = at::full({4}, 1.0F, at::kFloat).set_requires_grad(true);
    RateRows rows = rows_with(options, {0.5, 0.25});
    const auto optimizer = optimizer_of({{"w", value}}, options, rows);
    LossScaler scaler(at::kCPU);
    StepReporter reporter(at::kCPU, rows, 1);
    const auto step = [&](double gradient) {
      value.mutable_grad() = at::full({4}, gradient, at::kFloat);
      optimizer->step(reporter.rates(), &scaler);
      reporter.advance(at::full({}, 1.0), &scaler);
    };
    step(std::numeric_limits<double>::infinity());
    EXPECT_EQ(value[0].item<double>(), 1);
    for (const SlicedState& state : optimizer->state()) {
      EXPECT_EQ(state.parts[0].abs().max().item<double>(), 0) << state.name;
    }
    for (const NamedTensor& count : optimizer->counts()) EXPECT_EQ(count.tensor.item<double>(), 0);
    EXPECT_EQ(reporter.report(1).skipped, 1);
    EXPECT_EQ(reporter.report(1).loss_scale, 32768);
    EXPECT_EQ(reporter.rates().lr.item<double>(), 0.5) << "the schedule follows updates, not steps";
    step(32768 * 0.25);  // a gradient of 0.25 each, scaled: norm 0.5
    EXPECT_LT(value[0].item<double>(), 0.95);
    EXPECT_EQ(reporter.rates().lr.item<double>(), 0.25);
    EXPECT_EQ(reporter.report(2).skipped, 1);
    EXPECT_EQ(*reporter.progress(), 2);
  }
}

TEST(Optimizer, StateLiesBesideTheSlicesInTheirOrder) {
  const std::vector<NamedTensor> parameters = some_parameters(at::kFloat);
  OptimizerSpec options = sgd(0.9, 0.1, false);
  options.decay = "weights";
  const std::vector<SlicedState> velocities =
      optimizer_of(parameters, options, rows_with(options, {1}))->state();
  ASSERT_EQ(velocities.size(), 1U);
  EXPECT_EQ(velocities[0].name, "momentum");
  ASSERT_EQ(velocities[0].parts.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(velocities[0].parts[i].sizes(), parameters[i].tensor.sizes());
  }
  const auto plain = optimizer_of(parameters, sgd(0, 0, false), rows_with(sgd(0, 0, false), {1}));
  EXPECT_TRUE(plain->state().empty());
  const auto adam = optimizer_of(parameters, adamw("all"), rows_with(adamw("all"), {1}));
  const std::vector<SlicedState> state = adam->state();
  ASSERT_EQ(state.size(), 2U);
  EXPECT_EQ(state[0].name, "exp_avg");
  EXPECT_EQ(state[1].name, "exp_avg_sq");
  EXPECT_EQ(state[1].parts[3].sizes(), parameters[3].tensor.sizes());
  EXPECT_EQ(adam->counts().at(0).name, "step");
}

/// As a rank of a sharded world may have it.
TEST(Optimizer, WithoutSlicesTakesPartInTheSumOverRanks) {
  for (OptimizerSpec options : {sgd(0.9, 0, false), adamw("all")}) {
    for (const bool clips : {false, true}) {
      if (clips) options.clip_norm = 1;
      const RateRows rows = rows_with(options, {0.5});
      const auto optimizer = make_optimizer({}, at::TensorOptions(), options, rows);
      int asked = 0;
      const auto of_others = [&](const at::Tensor& value) {
        ++asked;
        EXPECT_EQ(value.item<double>(), 0);
        value.fill_(std::numeric_limits<double>::infinity());
      };
      optimizer->set_sum_over_ranks(of_others);
      LossScaler scaler(at::kCPU);
      StepReporter reporter(at::kCPU, rows, 1);
      optimizer->step(reporter.rates(), &scaler);
      EXPECT_EQ(asked, 1);
      EXPECT_EQ(scaler.scale().item<double>(), 32768);
    }
  }
}

TEST(Optimizer, KindsAreToldByNameAndShape) {
  const std::vector<NamedTensor> parameters = some_parameters(at::kFloat);
  EXPECT_EQ(kind_of(parameters[0]), ParameterKind::kWeight);
  EXPECT_EQ(kind_of(parameters[2]), ParameterKind::kBias);
  EXPECT_EQ(kind_of(parameters[3]), ParameterKind::kNormWeight);
}

}  // namespace
}  // namespace falcon::train
