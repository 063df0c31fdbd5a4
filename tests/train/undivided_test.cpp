// 16-bit weights with float32 masters compute what autocast computes with float32 weights.
#include "parallel/undivided.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randint.h>
#include <gtest/gtest.h>

#include "comm/ranks.h"
#include "train/micro_batches.h"
#include "train/precision.h"
#include "train/training_kit.h"

namespace falcon::train {
namespace {

constexpr auto kNarrow = at::kBFloat16;

/// A model, its strategy and what that was made for.
struct Side {
  std::unique_ptr<Model> model;
  ParallelismSpec parallelism;
  EngineSpec engine;
  std::unique_ptr<Strategy> strategy;

  Side(const std::string& name, std::optional<at::ScalarType> narrow_type,
       std::int64_t micro_batches = 1, comm::ProcessGroup* group = nullptr)
      : model(test::compared_model(name, 1)) {
    model->initialize(7);
    model->set_training(true);
    strategy = make_strategy(group == nullptr ? "none" : "ddp", {.model = *model,
                                                                 .group = group,
                                                                 .options = parallelism,
                                                                 .engine = engine,
                                                                 .narrow_type = narrow_type,
                                                                 .micro_batches = micro_batches});
  }
  std::int64_t elements() const {
    std::int64_t count = 0;
    for (const NamedTensor& p : model->parameters()) count += p.tensor.numel();
    return count;
  }
  double loss_and_gradients(const Batch& batch) {
    strategy->before_step();
    strategy->before_forward();
    at::Tensor loss;
    {
      const AutocastGuard autocast(at::kCPU, kNarrow);
      loss = strategy->loss(batch);
    }
    strategy->before_backward(true);
    loss.backward();
    strategy->after_backward(true);
    return loss.item<double>();
  }
};

class Undivided : public testing::TestWithParam<std::string> {};

TEST_P(Undivided, ComputesAsAutocastDoes) {
  const Batch batch = test::compared_batch(GetParam());
  Side wide(GetParam(), {});
  Side narrow(GetParam(), kNarrow);
  EXPECT_EQ(narrow.loss_and_gradients(batch), wide.loss_and_gradients(batch));
  std::int64_t copies = 0;
  const std::vector<NamedTensor> got = narrow.model->parameters();
  const std::vector<NamedTensor> want = wide.model->parameters();
  const std::vector<Slice> slices = narrow.strategy->slices();
  for (std::size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE(got[i].name);
    EXPECT_TRUE(at::equal(slices[i].values, want[i].tensor));
    EXPECT_EQ(slices[i].copy.defined(), narrow.model->is_product_weight(got[i]));
    EXPECT_EQ(got[i].tensor.scalar_type(), slices[i].copy.defined() ? kNarrow : at::kFloat);
    const at::Tensor gradient = got[i].tensor.grad();
    EXPECT_TRUE(at::equal(gradient, want[i].tensor.grad().to(gradient.scalar_type())));
    if (!slices[i].copy.defined()) continue;
    ++copies;
    EXPECT_TRUE(at::equal(slices[i].copy, want[i].tensor.to(kNarrow)));
    EXPECT_EQ(slices[i].copy.strides(), want[i].tensor.strides());
  }
  EXPECT_GT(copies, 3);
  narrow.strategy->gather_model();
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(at::equal(got[i].tensor, want[i].tensor)) << got[i].name;
  }
  narrow.strategy->resume();
  EXPECT_EQ(narrow.loss_and_gradients(batch), wide.loss_and_gradients(batch));
}

INSTANTIATE_TEST_SUITE_P(Models, Undivided, testing::Values("yolov5n", "bert_base"));

TEST(UndividedMemory, IsOfTwoTypes) {
  Side wide("bert_base", {});
  Side narrow("bert_base", kNarrow);
  const Batch batch = test::compared_batch("bert_base");
  wide.loss_and_gradients(batch);
  narrow.loss_and_gradients(batch);
  std::int64_t product_weights = 0;
  for (const NamedTensor& p : wide.model->parameters()) {
    if (wide.model->is_product_weight(p)) product_weights += p.tensor.numel();
  }
  const std::int64_t elements = wide.elements();
  EXPECT_EQ(wide.strategy->held().parameters, elements * 4);
  EXPECT_EQ(wide.strategy->held().gradients, elements * 4);
  EXPECT_EQ(wide.strategy->held().masters, 0);
  EXPECT_GT(product_weights, 1000);
  EXPECT_EQ(narrow.strategy->held().parameters, elements * 4 - product_weights * 2);
  EXPECT_EQ(narrow.strategy->held().gradients, elements * 4 - product_weights * 2);
  EXPECT_EQ(narrow.strategy->held().masters, product_weights * 4);
}

/// 16-bit gradients of micro-batches would be added up in 16 bit.
TEST(UndividedMemory, IsWideWithMicroBatches) {
  const Side side("bert_base", kNarrow, /*micro_batches=*/2);
  EXPECT_EQ(side.strategy->held().masters, 0);
  for (const NamedTensor& p : side.model->parameters()) {
    EXPECT_EQ(p.tensor.scalar_type(), at::kFloat);
  }
  EXPECT_EQ(side.strategy->choices().count("parameters_held"), 0U);
}

/// Also in the first step after the model was whole, when parameters have changed their type twice.
TEST(UndividedRanks, AverageWhatComesIn16Bit) {
  std::vector<std::vector<at::Tensor>> gradients(2);
  test::run_ranks(2, [&](comm::ProcessGroup& group) {
    Side side("bert_base", kNarrow, 1, &group);
    const Batch batch = test::compared_batch("bert_base");
    Batch own;  // half of it
    for (const NamedTensor& entry : batch.tensors) {
      own.tensors.push_back({entry.name, entry.tensor.narrow(0, 2 * group.rank(), 2)});
    }
    for (int step = 0; step < 3; ++step) {
      if (step == 2) {
        side.strategy->gather_model();
        side.strategy->resume();
      }
      side.loss_and_gradients(own);
      for (const NamedTensor& p : side.model->parameters()) {
        gradients[static_cast<std::size_t>(group.rank())].push_back(p.tensor.grad().clone());
      }
    }
    const CommunicationCount count = side.strategy->last_step();
    EXPECT_EQ(count.bytes, 4 * side.elements()) << "in float32";
    EXPECT_EQ(side.strategy->choices().at("parameters_held"),
              "BFloat16 product weights with float32 masters, the rest in float32");
    group.barrier();
  });
  const std::size_t count = gradients[0].size() / 3;
  for (std::size_t i = 0; i < gradients[0].size(); ++i) {
    EXPECT_TRUE(at::equal(gradients[0][i], gradients[1][i])) << i;
    // nothing was updated: each step has the gradients of the one before
    EXPECT_TRUE(at::equal(gradients[0][i], gradients[0][i % count])) << i;
  }
}

}  // namespace
}  // namespace falcon::train
