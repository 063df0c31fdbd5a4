// The mean average precision of boxes made by hand, in the form of the model's outputs.
#include "train/detection_metric.h"

#include <array>

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <c10/util/irange.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/detection_score.h"
#include "measure/suppression.h"

namespace falcon::train {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pair;

constexpr std::int64_t kClasses = 3;
constexpr float kSide = 64;  // of the input, pixels

/// Centre and sides in parts of the input.
struct Box {
  std::int64_t label = 0;
  float x = 0.5F;
  float y = 0.5F;
  float width = 0.25F;
  float height = 0.25F;
  float score = 0.9F;  // of a prediction
  bool is_crowd = false;
};
struct Picture {
  std::vector<Box> wanted;
  std::vector<Box> found;
};

at::Tensor predictions_of(const std::vector<Picture>& pictures) {
  const auto count = static_cast<std::int64_t>(pictures.size());
  const at::Tensor rows = at::zeros({count, 40, 5 + kClasses});
  auto place = rows.accessor<float, 3>();
  for (const auto i : c10::irange(count)) {
    // among rows of no object, and at the end of them
    for (std::int64_t row = 39; const Box& box : pictures[static_cast<std::size_t>(i)].found) {
      const std::array<float, 5> numbers = {box.x * kSide, box.y * kSide, box.width * kSide,
                                            box.height * kSide, 1};
      for (const auto c : c10::irange(5)) place[i][row][c] = numbers[static_cast<std::size_t>(c)];
      place[i][row][5 + box.label] = box.score;
      row -= 3;
    }
  }
  return rows;
}

Batch batch_of(const std::vector<Picture>& pictures) {
  const auto count = static_cast<std::int64_t>(pictures.size());
  const at::Tensor targets = at::zeros({count, 8, 5});
  targets.select(2, 0).fill_(-1);
  const at::Tensor crowd = at::zeros({count, 8}, at::kByte);
  for (const auto i : c10::irange(count)) {
    for (std::int64_t row = 0; const Box& box : pictures[static_cast<std::size_t>(i)].wanted) {
      const std::array<float, 5> numbers = {static_cast<float>(box.label), box.x, box.y, box.width,
                                            box.height};
      for (const auto c : c10::irange(5)) {
        targets[i][row][c].fill_(numbers[static_cast<std::size_t>(c)]);
      }
      crowd[i][row++].fill_(box.is_crowd ? 1 : 0);
    }
  }
  const at::Tensor content = at::zeros({count, 4});
  content.narrow(1, 2, 2).fill_(1);
  const auto side = static_cast<std::int64_t>(kSide);
  return {{{"images", at::zeros({count, 3, side, side})},
           {"targets", targets},
           {"crowd", crowd},
           {"content", content}}};
}

std::unique_ptr<Metric> metric_of(const std::vector<Picture>& pictures,
                                  std::vector<std::int64_t> samples) {
  std::unique_ptr<Metric> metric = make_detection_metric();
  metric->add({predictions_of(pictures)}, batch_of(pictures), samples);
  return metric;
}

auto scores(double map50, double map50_95) {
  return ElementsAre(Pair("map50", DoubleNear(map50, 1e-9)),
                     Pair("map50_95", DoubleNear(map50_95, 1e-9)));
}

const Box kLarge{.label = 0, .x = 0.375F, .y = 0.5F, .width = 0.5F, .height = 0.625F};
const Box kSmall{.label = 1, .x = 0.75F, .y = 0.25F, .width = 0.125F, .height = 0.25F};

TEST(DetectionMetric, PerfectPredictionsHaveAPrecisionOfOne) {
  const std::vector<Picture> pictures = {{{kLarge, kSmall}, {kSmall, kLarge}},
                                         {{kSmall}, {kSmall}}};
  EXPECT_THAT(metric_of(pictures, {4, 7})->values(), scores(1, 1));
}

TEST(DetectionMetric, AnotherClassIsAMissAndAWrongBox) {
  Box wrong = kSmall;
  wrong.label = 2;
  EXPECT_THAT(metric_of({{{kLarge, kSmall}, {kLarge, wrong}}}, {0})->values(), scores(0.5, 0.5));
}

TEST(DetectionMetric, APlaceThatIsALittleOffCountsForSomeThresholds) {
  Box off = kLarge;
  off.x += 0.125F;  // a quarter of its width: an overlap of 0.75 / 1.25 = 0.6
  EXPECT_THAT(metric_of({{{kLarge}, {off}}}, {0})->values(), scores(1, 0.3));
}

TEST(DetectionMetric, ABoxInACrowdCountsNeitherWay) {
  const Box in_crowd{
      .label = 0, .x = 0.875F, .y = 0.875F, .width = 0.125F, .height = 0.125F, .score = 0.95F};
  Box crowd{.label = 0, .x = 0.84375F, .y = 0.84375F, .width = 0.3125F, .height = 0.3125F};
  crowd.is_crowd = true;
  EXPECT_THAT(metric_of({{{kLarge, crowd}, {kLarge, in_crowd}}}, {0})->values(), scores(1, 1));
  crowd.is_crowd = false;
  // the best box is wrong, and one of two is found: a precision of a half up to a recall of a half
  EXPECT_THAT(metric_of({{{kLarge, crowd}, {kLarge, in_crowd}}}, {0})->values(),
              scores(0.5 * 51 / 101, 0.5 * 51 / 101));
}

TEST(DetectionMetric, WhatStandsInForNoSampleDoesNotCount) {
  Box wrong = kLarge;
  wrong.label = 1;
  const std::vector<Picture> pictures = {{{kLarge}, {kLarge}}, {{kLarge, kSmall}, {wrong}}};
  EXPECT_THAT(metric_of(pictures, {3, -1})->values(), scores(1, 1));
  EXPECT_THAT(metric_of(pictures, {-1, 3})->values(), scores(0, 0));
  EXPECT_TRUE(metric_of(pictures, {-1, -1})->values().empty()) << "no box, no precision";
}

TEST(DetectionMetric, PredictionsAreCutAtThePicturesEdges) {
  const std::vector<Picture> pictures = {
      {{{.x = 0.5F, .y = 0.25F, .width = 0.5F, .height = 0.25F}},
       {{.x = 0.5F, .y = 0.1875F, .width = 0.5F, .height = 0.375F}}}};  // a third is padding
  Batch batch = batch_of(pictures);
  const std::array<std::int64_t, 1> samples = {0};
  const auto whole = make_detection_metric();
  whole->add({predictions_of(pictures)}, batch, samples);
  EXPECT_THAT(whole->values(), scores(1, 0.4));  // 2 / 3
  batch.tensors[3].tensor[0][1].fill_(0.125);
  batch.tensors[3].tensor[0][3].fill_(0.875);
  const auto padded = make_detection_metric();
  padded->add({predictions_of(pictures)}, batch, samples);
  EXPECT_THAT(padded->values(), scores(1, 1));
}

/// Random boxes of all scores: what is left behind on the device can give no box.
TEST(DetectionMetric, LeavesNoBoxBehind) {
  at::Tensor predictions = at::rand({3, 200, 5 + kClasses});
  predictions.narrow(2, 0, 4).mul_(kSide);
  predictions.narrow(2, 4, 1 + kClasses).pow_(6);
  const std::vector<Picture> pictures = {{{kLarge, kSmall}, {}}, {{kSmall}, {}}, {{kLarge}, {}}};
  const std::array<std::int64_t, 3> samples = {0, 1, 2};
  const auto metric = make_detection_metric();
  metric->add({predictions}, batch_of(pictures), samples);
  std::vector<measure::ScoredBox> found;
  std::vector<measure::TrueBox> wanted;
  std::size_t rows = 0;
  for (const std::int64_t i : samples) {
    const float* first = predictions[i].const_data_ptr<float>();
    for (const measure::DetectedBox& box : measure::suppress({first, 200 * 8}, kClasses)) {
      const double left = std::clamp(box.left, 0.F, kSide);
      const double top = std::clamp(box.top, 0.F, kSide);
      found.push_back({i, box.label, left, top, std::clamp(box.right, 0.F, kSide) - left,
                       std::clamp(box.bottom, 0.F, kSide) - top, box.score});
      ++rows;
    }
    for (const Box& box : pictures[static_cast<std::size_t>(i)].wanted) {
      wanted.push_back({i, box.label, (box.x - box.width / 2) * kSide,
                        (box.y - box.height / 2) * kSide, box.width * kSide, box.height * kSide});
    }
  }
  ASSERT_GT(rows, 100U);
  const auto score = measure::score_detections(wanted, found);
  ASSERT_TRUE(score);
  EXPECT_GT(score->map50, 0);
  EXPECT_THAT(metric->values(), scores(score->map50, score->map50_95));
}

TEST(DetectionMetric, TwoRanksTogetherAreOne) {
  Box off = kLarge;
  off.x += 0.125F;
  off.score = 0.5F;
  Box wrong = kSmall;
  wrong.label = 2;
  const Picture one = {{kLarge, kSmall}, {off, kSmall}};
  const Picture other = {{kLarge}, {kLarge, wrong}};
  const auto alone = metric_of({one, other}, {8, 9});
  const auto first = metric_of({other}, {9});
  first->absorb(metric_of({one}, {8})->state());
  EXPECT_EQ(first->values(), alone->values());
  EXPECT_GT(alone->values().at("map50_95"), 0.3);
  EXPECT_LT(alone->values().at("map50_95"), 0.95);
  const auto again = make_detection_metric();
  again->absorb(first->state());
  again->absorb(make_detection_metric()->state());
  EXPECT_EQ(again->values(), alone->values());
}

}  // namespace
}  // namespace falcon::train
