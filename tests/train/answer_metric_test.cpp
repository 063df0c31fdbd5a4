// Exact match and F1 from the outputs of a model, on made questions.
#include "train/answer_metric.h"

#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <falconbench/errors.h>

#include "comm/ranks.h"
#include "data/make_squad.h"
#include "data/squad.h"
#include "data_loader/picture_files.h"
#include "train/catalog.h"
#include "train/training_kit.h"

namespace falcon::train {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr std::int64_t kLength = 128;

class AnswerMetric : public testing::Test {
 protected:
  void SetUp() override {
    data::make_squad(folder_ / "set", {.train = 8, .val = 40, .version = "v2.0", .seed = 3}, 1);
    squad_ = std::make_unique<data::Squad>(options());
  }
  data::DatasetOptions options() const {
    data::DatasetOptions options;
    options.format = "squad";
    options.path = folder_ / "set";
    options.subfolder = "dev-v2.0.json";
    options.sequence_length = kLength;
    options.doc_stride = 32;
    options.evaluation = true;
    options.threads = 1;
    return options;
  }
  // Of windows first to behind last, as a model that knows the answers.
  std::vector<at::Tensor> perfect(std::int64_t first, std::int64_t last) const {
    std::vector<at::Tensor> logits(2);
    for (at::Tensor& side : logits) side = at::full({last - first, kLength}, -4.0);
    for (std::int64_t i = first; i < last; ++i) {
      const data::SquadFeature& feature = squad_->features()[static_cast<std::size_t>(i)];
      logits[0][i - first][feature.start] = 4;
      logits[1][i - first][feature.end] = 4;
    }
    return logits;
  }
  static void add(Metric& metric, const std::vector<at::Tensor>& logits, std::int64_t first) {
    std::vector<std::int64_t> samples;
    for (std::int64_t i = 0; i < logits[0].size(0); ++i) samples.push_back(first + i);
    metric.add(logits, {}, samples);
  }
  test::TemporaryFolder folder_;
  std::unique_ptr<data::Squad> squad_;
};

TEST_F(AnswerMetric, PerfectLogitsGiveAPerfectScore) {
  const auto metric = make_metric("question_answering", *squad_);
  EXPECT_TRUE(metric->values().empty()) << "no window, no score";
  add(*metric, perfect(0, squad_->size()), 0);
  EXPECT_THAT(metric->values(), ElementsAre(Pair("exact_match", 1), Pair("f1", 1)));
}

TEST_F(AnswerMetric, SixteenBitLogitsAreTaken) {
  const auto metric = make_answer_metric(*squad_);
  std::vector<at::Tensor> logits = perfect(0, squad_->size());
  for (at::Tensor& side : logits) side = side.to(at::kBFloat16);
  add(*metric, logits, 0);
  EXPECT_THAT(metric->values(), ElementsAre(Pair("exact_match", 1), Pair("f1", 1)));
}

TEST_F(AnswerMetric, WindowsOfOneQuestionMeetFromSeveralRanks) {
  const std::int64_t all = squad_->size();
  std::vector<at::Tensor> logits = perfect(0, all);
  for (at::Tensor& side : logits) side += at::randn({all, kLength}).mul(3);
  const auto alone = make_answer_metric(*squad_);
  add(*alone, logits, 0);
  EXPECT_GT(alone->values().at("f1"), alone->values().at("exact_match") - 1e-9);
  EXPECT_LT(alone->values().at("f1"), 1);
  EXPECT_GT(alone->values().at("f1"), 0.1);
  std::vector<std::unique_ptr<Metric>> ranks;
  for (int rank = 0; rank < 3; ++rank) ranks.push_back(make_answer_metric(*squad_));
  for (std::int64_t i = 0; i < all; ++i) {  // neighbours on different ranks
    add(*ranks[static_cast<std::size_t>(i % 3)],
        {logits[0].narrow(0, i, 1), logits[1].narrow(0, i, 1)}, i);
  }
  ranks[0]->absorb(ranks[2]->state());
  ranks[0]->absorb(ranks[1]->state());
  ranks[0]->absorb(make_answer_metric(*squad_)->state());  // of a rank without a window
  EXPECT_EQ(ranks[0]->values(), alone->values());
}

TEST_F(AnswerMetric, WhatOnlyFillsABatchDoesNotCount) {
  const auto metric = make_answer_metric(*squad_);
  std::vector<at::Tensor> logits = perfect(0, 4);
  const std::vector<std::int64_t> samples = {0, -1, -1, 3};
  metric->add(logits, {}, samples);
  EXPECT_EQ(metric->state().size(), 2U * 24);
}

TEST_F(AnswerMetric, NeedsTexts) {
  data::DatasetOptions training = options();
  training.evaluation = false;
  EXPECT_THROW(make_answer_metric(data::Squad(training)), Error);
  training.format = "synthetic";
  training.task = "question_answering";
  EXPECT_THROW(make_metric("question_answering", *data::make_dataset(training)), Error);
}

// A small encoder, untrained: the loader, the batches and the gathering with 1 and with 3 ranks.
TEST_F(AnswerMetric, IsTheSameForEveryNumberOfRanks) {
  static const Precision precision = precision_of("fp32", at::kCPU);
  EvaluationOptions evaluation;
  evaluation.precision = &precision;
  evaluation.batch = 8;
  const auto model = [] {
    ModelOptions options;
    options.layers = 1;
    options.hidden_size = 16;
    options.heads = 2;
    std::unique_ptr<Model> made = make_model("bert_base", options);
    made->initialize(2);
    return made;
  };
  test::FakeControl control;
  const auto metric = make_answer_metric(*squad_);
  const EvaluationRecord alone = evaluate(*model(), nullptr, *squad_, *metric, evaluation, control);
  EXPECT_EQ(alone.samples, squad_->size());
  EXPECT_EQ(alone.metrics.size(), 2U);
  EvaluationRecord together;
  test::run_ranks(3, [&](comm::ProcessGroup& group) {
    test::FakeControl own;
    const auto part = make_answer_metric(*squad_);
    const EvaluationRecord record = evaluate(*model(), &group, *squad_, *part, evaluation, own);
    if (group.rank() == 0) together = record;
  });
  EXPECT_EQ(together.samples, alone.samples);
  EXPECT_EQ(together.metrics, alone.metrics);
}

}  // namespace
}  // namespace falcon::train
