// The average of the state against its formula and the decays of schedules.json.
#include "train/moving_average.h"

#include <cmath>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "support/reference_set.h"
#include "train/training_kit.h"

namespace falcon::train {
namespace {

void set_all(const std::vector<NamedTensor>& tensors, double value) {
  const at::NoGradGuard no_grad;
  for (const NamedTensor& entry : tensors) entry.tensor.fill_(value);
}

TEST(MovingAverage, BeginsWithTheValuesAndLeavesThemAlone) {
  const std::unique_ptr<Model> model = test::make_tiny_model(3);
  model->to(at::kCPU, at::kDouble, /*channels_last=*/true);
  model->initialize(1);
  MovingAverage average(model->state(), 0.9);
  const at::Tensor filter = model->state().front().tensor.detach().clone();
  EXPECT_TRUE(average.averages().front().tensor.equal(filter));
  set_all(model->state(), 2);
  average.update();
  const double keep = 0.9 * (1 - std::exp(-1.0 / 2000));
  EXPECT_TRUE(average.averages().front().tensor.allclose(filter * keep + 2 * (1 - keep), 1e-14, 0));
  EXPECT_TRUE(model->state().front().tensor.eq(2).all().item<bool>());
  EXPECT_EQ(average.averages().front().name, model->state().front().name);
  EXPECT_EQ(average.updates().item<double>(), 1);
}

TEST(MovingAverage, DecaysAsTheReference) {
  const auto file = test::read_reference("schedules.json");
  if (!file) GTEST_SKIP() << "schedules.json is not there";
  const std::unique_ptr<Model> model = test::make_tiny_model(2);
  model->to(at::kCPU, at::kDouble, false);
  set_all(model->state(), 0);
  MovingAverage average(model->state(), 0.9999);
  std::int64_t n = 0;
  for (const test::Json& row : file->json.at("yolov5_ema_decay").at("values")) {
    if (row[0].get<std::int64_t>() > 10000) break;
    while (n < row[0].get<std::int64_t>()) {
      set_all(average.averages(), 1);
      average.update();
      ++n;
    }
    EXPECT_NEAR(average.averages().back().tensor[0].item<double>(), row[1], 1e-12)
        << "update " << n;
  }
  EXPECT_EQ(n, 10000);
}

}  // namespace
}  // namespace falcon::train
