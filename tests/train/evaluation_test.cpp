// Every validation sample counts once, whatever the number of ranks.
#include "train/evaluation.h"

#include <array>

#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <falconbench/errors.h>

#include "comm/ranks.h"
#include "data/catalog.h"
#include "train/top_k.h"
#include "train/training_kit.h"

namespace falcon::train {
namespace {

/// Synthetic samples, of which one in seven cannot be read.
class Damaged : public Dataset {
 public:
  explicit Damaged(std::int64_t count) {
    data::DatasetOptions options;
    options.image_size = 32;
    options.classes = 10;
    options.count = count;
    options.evaluation = true;
    whole_ = data::make_dataset(options);
  }
  std::int64_t size() const override { return whole_->size(); }
  std::vector<TensorLayout> layout() const override { return whole_->layout(); }
  std::unique_ptr<ReadScratch> make_scratch() const override { return whole_->make_scratch(); }
  bool read(const SampleKey& key, std::span<std::byte* const> destinations, ReadScratch& scratch,
            ReadCost& cost, SkippedItem& skipped) const override {
    if (key.index % 7 == 3) {
      skipped = {std::to_string(key.index), "damaged", "made so"};
      return false;
    }
    return whole_->read(key, destinations, scratch, cost, skipped);
  }
  const std::vector<SkippedItem>& skipped_at_scan() const override {
    return whole_->skipped_at_scan();
  }
  std::map<std::string, std::string> facts() const override { return whole_->facts(); }

 private:
  std::unique_ptr<Dataset> whole_;
};

EvaluationOptions options() {
  static const Precision precision = precision_of("fp32", at::kCPU);
  EvaluationOptions options;
  options.precision = &precision;
  options.batch = 8;
  options.seed = 5;
  return options;
}

std::unique_ptr<Model> model() {
  std::unique_ptr<Model> model = test::make_tiny_model(10);
  model->initialize(1);
  return model;
}

TEST(Evaluation, IsTheSameForEveryNumberOfRanks) {
  const Damaged data(50);
  test::FakeControl control;
  const auto alone_metric = make_top_k();
  const EvaluationRecord alone =
      evaluate(*model(), nullptr, data, *alone_metric, options(), control);
  EXPECT_EQ(alone.samples, 43);
  EXPECT_EQ(alone.skipped, 7);
  EXPECT_GE(alone.metrics.at("top5"), alone.metrics.at("top1"));
  EXPECT_GT(alone.metrics.at("top5"), 0);
  EvaluationRecord together;
  test::run_ranks(3, [&](comm::ProcessGroup& group) {
    test::FakeControl own;
    const auto metric = make_top_k();
    const EvaluationRecord record = evaluate(*model(), &group, data, *metric, options(), own);
    if (group.rank() == 0) together = record;
  });
  EXPECT_EQ(together.samples, alone.samples);
  EXPECT_EQ(together.skipped, alone.skipped);
  EXPECT_EQ(together.metrics, alone.metrics);
}

TEST(TopK, CountsTheSamplesThatCount) {
  const auto metric = make_top_k();
  const at::Tensor logits = at::tensor({9.F, 8.F, 7.F, 6.F, 5.F, 4.F}).repeat({4, 1});
  const Batch batch{{{"labels", at::tensor({0L, 4L, 5L, 0L})}}};
  const std::array<std::int64_t, 4> samples = {10, 11, 12, -1};
  metric->add({logits}, batch, samples);
  EXPECT_THAT(metric->values(),
              testing::ElementsAre(testing::Pair("top1", 1.0 / 3), testing::Pair("top5", 2.0 / 3)));
  const auto other = make_top_k();
  other->absorb(metric->state());
  other->absorb(metric->state());
  EXPECT_EQ(other->values(), metric->values());
  EXPECT_EQ(make_top_k()->values().size(), 0U) << "no sample, no share";
}

TEST(TopK, WithFewerThanFiveClassesAllAreAmongTheFirst) {
  const auto metric = make_top_k();
  const Batch batch{{{"labels", at::tensor({1L})}}};
  const std::array<std::int64_t, 1> samples = {0};
  metric->add({at::tensor({1.F, 0.F}).unsqueeze(0)}, batch, samples);
  EXPECT_EQ(metric->values().at("top1"), 0);
  EXPECT_EQ(metric->values().at("top5"), 1);
}

TEST(Metrics, AreThereByTask) {
  const Damaged data(10);
  EXPECT_NE(make_metric("classification", data), nullptr);
  EXPECT_THROW(make_metric("cooking", data), Error);
}

}  // namespace
}  // namespace falcon::train
