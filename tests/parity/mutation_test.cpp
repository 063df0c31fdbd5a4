// The parity tests can fail: every kind of number of every section, changed beyond its tolerance,
// is noticed; and the program itself fails on a folder that holds one changed number.
#include <algorithm>
#include <array>
#include <cmath>

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parity/compare.h"
#include "parity/measured.h"
#include "parity/program.h"
#include "support/reference_set.h"

namespace falcon::test {
namespace {

struct Place {
  const char* section;
  const char* pointer;  // RFC 6901
};

constexpr std::array kFloat64Places{
    Place{"tensors", "/parameters"},
    Place{"tensors", "/tensors/0/1/0"},
    Place{"tensors", "/tensors/0/5"},
    Place{"tensors", "/tensors/7/4"},
    Place{"flops", "/flops/forward_flops"},
    Place{"flops", "/flops/by_op/aten.convolution"},
    Place{"eval_small", "/eval_small/input/scale"},
    Place{"eval_small", "/eval_small/outputs/0/shape/1"},
    Place{"eval_small", "/eval_small/outputs/0/l2"},
    Place{"eval_small", "/eval_small/outputs/0/dot"},
    Place{"eval_small", "/eval_small/outputs/0/mean"},
    Place{"eval_small", "/eval_small/outputs/0/absmean"},
    Place{"eval_small", "/eval_small/outputs/0/value/39"},
    Place{"eval_small", "/eval_small/outputs/0/index/20"},
    Place{"taps", "/eval_small/taps/0/2"},
    Place{"taps", "/eval_small/taps/7/3"},
    Place{"taps", "/eval_small/taps/19/4"},
    Place{"eval_full", "/eval_full/outputs/0/l2"},
    Place{"eval_full", "/eval_full/outputs/0/value/0"},
    Place{"train_small", "/train_small/loss"},
    Place{"train_small", "/train_small/labels/1"},
    Place{"train_small", "/train_small/outputs/0/value/11"},
    Place{"train_small", "/train_small/grad_norm"},
    Place{"train_small", "/train_small/grads/0/1"},
    Place{"train_small", "/train_small/grads/60/2"},
    Place{"train_small", "/train_small/grads/157/3"},
    Place{"train_small", "/train_small/buffers_after/0/1"},
    Place{"train_small", "/train_small/buffers_after/51/2"},
    Place{"train_small", "/train_small/buffers_after/103/3"},
    Place{"train_small", "/train_small/num_batches_tracked_after"},
    Place{"trajectory", "/trajectory/loss/4"},
    Place{"trajectory", "/trajectory/grad_norm_before_clip/2"},
    Place{"trajectory", "/trajectory/delta/0/1"},
    Place{"trajectory", "/trajectory/delta/130/2"},
    Place{"trajectory", "/trajectory/delta/261/3"},
    Place{"trajectory_small_lr", "/trajectory_small_lr/loss/1"},
    Place{"trajectory_small_lr", "/trajectory_small_lr/optimizer/lr/3"},
    Place{"trajectory_small_lr", "/trajectory_small_lr/delta/0/1"},
};

constexpr std::array kFloat32Places{
    Place{"eval_small", "/eval_small/outputs/0/l2_f32"},
    Place{"eval_small", "/eval_small/outputs/0/value_f32/39"},
    Place{"taps", "/eval_small/taps/3/2"},
    Place{"eval_full", "/eval_full/outputs/0/dot"},
    Place{"train_small", "/train_small/loss"},
    Place{"train_small", "/train_small/loss_f32"},
    Place{"train_small", "/train_small/buffers_after/9/1"},
    Place{"trajectory", "/trajectory/loss/0"},
};

/// The file with one number moved by one percent, or by 0.01 where that is more; whole numbers by
/// one.
Json with_changed_number(const Json& file, const std::string& pointer) {
  Json changed = file;
  Json& number = changed.at(Json::json_pointer(pointer));
  if (number.is_number_integer()) {
    number = number.get<std::int64_t>() + 1;
  } else {
    const double value = number;
    number = value + 0.01 * std::max(std::abs(value), 1.0);
  }
  return changed;
}

class Mutation : public testing::TestWithParam<Precision> {
 protected:
  void SetUp() override {
    at::set_num_threads(1);
    file_ = shipped("mobilenet_v2.json");
  }
  Json file_;
};

/// What the section is measured from, besides being compared with.
bool is_input(const std::string& pointer) {
  return pointer.find("/input/") != std::string::npos ||
         pointer.find("/labels/") != std::string::npos || pointer.find("/lr/") != std::string::npos;
}

TEST_P(Mutation, OfAnyKindOfNumberIsNoticed) {
  const Precision& precision = GetParam();
  const bool is_float64 = precision.type == at::kDouble;
  const Place* places = is_float64 ? kFloat64Places.data() : kFloat32Places.data();
  const std::size_t count = is_float64 ? kFloat64Places.size() : kFloat32Places.size();
  for (const std::string& section : sections()) {
    if (is_optional(section) && !file_.contains(section)) {
      continue;
    }
    const Measured measured = measure(file_, section, precision);
    ASSERT_TRUE(compare(file_, section, measured, precision).passed()) << section;
    for (std::size_t i = 0; i < count; ++i) {
      if (section != places[i].section) {
        continue;
      }
      const Json changed = with_changed_number(file_, places[i].pointer);
      const Comparison comparison =
          is_input(places[i].pointer)
              ? compare(changed, section, measure(changed, section, precision), precision)
              : compare(changed, section, measured, precision);
      EXPECT_FALSE(comparison.passed()) << places[i].pointer << ' ' << comparison.worst();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Mutation, testing::Values(kFloat64, kFloat32),
                         testing::PrintToStringParamName());

TEST(ParityProgram, FailsForOneChangedNumberOfEachSection) {
  const Json file = shipped("mobilenet_v2.json");
  const ReferenceFolder folder("falcon_parity_mutation");
  std::string last;
  for (const Place& place : kFloat64Places) {
    if (place.section == last) {
      continue;  // one number a section here: the others are tried without a process
    }
    last = place.section;
    folder.write("mobilenet_v2.json", with_changed_number(file, place.pointer));
    const ProgramResult result = run_parity(folder, "*/mobilenet_v2_float64_" + last);
    EXPECT_EQ(result.exit_code, 1) << place.pointer << result.output;
    EXPECT_THAT(result.output,
                testing::HasSubstr("parity mobilenet_v2 float64 " + last + " rows="));
  }
}

TEST(ParityProgram, PassesOnAnUnchangedCopyAndSkipsMissingFilesByName) {
  const Json file = shipped("mobilenet_v2.json");
  const ReferenceFolder folder("falcon_parity_copy");
  folder.write("under_another_name.json", file);
  const ProgramResult result = run_parity(folder, "*_float32_eval_small:ParityFill.*");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, testing::HasSubstr("parity mobilenet_v2 float32 eval_small rows=1 "));
  EXPECT_THAT(result.output, testing::HasSubstr("missing resnet50.json"));
  EXPECT_THAT(result.output, testing::HasSubstr("missing fill.json"));
}

TEST(ParityProgram, FailsForASectionWithoutRows) {
  const Json file = shipped("mobilenet_v2.json");
  const ReferenceFolder folder("falcon_parity_empty");
  Json changed = file;
  changed["eval_small"]["taps"] = Json::array();
  changed.erase("eval_full");
  folder.write("mobilenet_v2.json", changed);
  const ProgramResult result = run_parity(folder, "*_float32_taps:*_float32_eval_full");
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_THAT(result.output, testing::HasSubstr("parity mobilenet_v2 float32 taps rows=0 "));
  EXPECT_THAT(result.output, testing::HasSubstr("parity mobilenet_v2 float32 eval_full rows=0 "));
}

TEST(ParityProgram, FailsForAChangedFillVector) {
  const Json file = shipped("fill.json");
  const ReferenceFolder folder("falcon_parity_fill");
  for (const char* pointer : {"/vectors/0/u24/3", "/vectors/1/value/0", "/vectors/2/unit/7"}) {
    folder.write("fill.json", with_changed_number(file, pointer));
    EXPECT_EQ(run_parity(folder, "ParityFill.*").exit_code, 1) << pointer;
  }
}

}  // namespace
}  // namespace falcon::test
