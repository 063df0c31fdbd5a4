// Dynamic loss scaling against the sequences of grad_scaler.json, made by torch.amp.GradScaler.
#include <limits>
#include <set>

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "ops/square_sum.h"
#include "support/reference_set.h"
#include "train/precision.h"

namespace falcon::train {
namespace {

LossScalerOptions options_of(const test::Json& json) {
  return {json.at("init_scale"), json.at("growth_factor"), json.at("backoff_factor"),
          json.at("growth_interval")};
}

/// One step in which a gradient overflows, or none does; the scale after it.
double scale_after(LossScaler& scaler, bool overflow) {
  const double odd = overflow ? std::numeric_limits<double>::infinity() : 2.0;
  const std::vector<at::Tensor> gradients{at::full({3}, 1.0), at::full({2, 2}, odd)};
  scaler.check(ops::square_sum({gradients}, gradients[0].options()));
  EXPECT_EQ(scaler.found_inf().item<double>(), overflow ? 1 : 0);
  EXPECT_EQ(gradients[0][0].item<double>(), 1) << "the check must not change gradients";
  scaler.update();
  return scaler.scale().item<double>();
}

TEST(LossScaler, FollowsTheReferenceSequences) {
  const auto file = test::read_reference("grad_scaler.json");
  if (!file) GTEST_SKIP() << "grad_scaler.json is not there";
  ASSERT_FALSE(file->json.at("sequences").empty());
  for (const test::Json& sequence : file->json.at("sequences")) {
    SCOPED_TRACE(sequence.at("case").get<std::string>());
    LossScaler scaler(at::kCPU, options_of(sequence));
    const auto& flags = sequence.at("found_inf");
    for (std::size_t step = 0; step < flags.size(); ++step) {
      EXPECT_EQ(scale_after(scaler, flags[step].get<int>() != 0),
                sequence.at("scale").at(step).get<double>())
          << "step " << step;
    }
  }
}

TEST(LossScaler, FollowsTheLongReferenceSequence) {
  const auto file = test::read_reference("grad_scaler.json");
  if (!file) GTEST_SKIP() << "grad_scaler.json is not there";
  const test::Json& sequence = file->json.at("long");
  const std::set<int> overflows = sequence.at("found_inf_at");
  LossScaler scaler(at::kCPU, options_of(sequence));
  double scale = sequence.at("init_scale");
  test::Json changes = test::Json::array();
  for (int step = 0; step < sequence.at("steps").get<int>(); ++step) {
    const double now = scale_after(scaler, overflows.contains(step));
    if (now != scale) changes.push_back({step, now});
    scale = now;
  }
  EXPECT_EQ(changes, sequence.at("scale_changes_after_step"));
}

TEST(LossScaler, ANanCountsAsOverflow) {
  LossScaler scaler(at::kCPU);
  scaler.check(at::full({}, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(scaler.found_inf().item<double>(), 1);
  scaler.update();
  EXPECT_EQ(scaler.scale().item<double>(), 32768);
}

}  // namespace
}  // namespace falcon::train
