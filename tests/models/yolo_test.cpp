// YOLOv5's loss besides the reference numbers: padding, ranks, gains; and that it can be learned.
#include <cmath>
#include <limits>

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <falconbench/errors.h>
#include <falconbench/model.h>

#include "models/yolo_loss.h"

namespace falcon::models {
namespace {

constexpr std::int64_t kClasses = 4;

at::Tensor wave(at::IntArrayRef shape, double scale) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return at::sin(at::arange(count, at::kFloat).mul(0.37).square()).mul(scale).reshape(shape);
}

/// Two pictures of 64 pixels with two and one boxes, padded to `padded` rows.
at::Tensor some_targets(std::int64_t padded) {
  const at::Tensor targets = at::full({2, padded, 5}, -1, at::kFloat);
  targets[0][0].copy_(at::tensor({1.0, 0.31, 0.42, 0.4, 0.3}));
  targets[0][1].copy_(at::tensor({3.0, 0.72, 0.66, 0.2, 0.5}));
  targets[1][0].copy_(at::tensor({0.0, 0.52, 0.47, 0.6, 0.7}));
  return targets;
}

std::vector<at::Tensor> some_maps() {
  std::vector<at::Tensor> maps;
  for (const std::int64_t cells : {8, 4, 2}) {
    maps.push_back(wave({2, 3, cells, cells, 5 + kClasses}, 2).requires_grad_(true));
  }
  return maps;
}

at::Tensor anchors() {
  return at::tensor({1.25, 1.625, 2.0, 3.75, 4.125, 2.875, 1.875, 3.8125, 3.875, 2.8125, 3.6875,
                     7.4375, 3.625, 2.8125, 4.875, 6.1875, 11.65625, 10.1875},
                    at::kFloat)
      .view({3, 3, 2});
}

TEST(YoloLoss, DoesNotDependOnThePadding) {
  const std::vector<at::Tensor> maps = some_maps();
  yolo_loss(maps, some_targets(2), anchors(), {}).total.backward();
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& map : maps) gradients.push_back(map.grad().clone());
  const std::vector<at::Tensor> again = some_maps();
  const YoloLoss loss = yolo_loss(again, some_targets(40), anchors(), {});
  loss.total.backward();
  for (std::size_t level = 0; level < maps.size(); ++level) {
    EXPECT_TRUE(again[level].grad().allclose(gradients[level], 1e-5, 1e-8)) << level;
  }
  EXPECT_GT(loss.box.item<double>(), 0);
  EXPECT_GT(loss.classes.item<double>(), 0);
}

TEST(YoloLoss, OfABatchWithoutTargetsIsFiniteAndObjectnessAlone) {
  const std::vector<at::Tensor> maps = some_maps();
  const YoloLoss loss = yolo_loss(maps, at::full({2, 5, 5}, -1, at::kFloat), anchors(), {});
  loss.total.backward();
  EXPECT_EQ(loss.box.item<double>(), 0);
  EXPECT_EQ(loss.classes.item<double>(), 0);
  EXPECT_GT(loss.objectness.item<double>(), 0);
  for (const at::Tensor& map : maps) EXPECT_TRUE(map.grad().isfinite().all().item<bool>());
}

TEST(YoloLoss, IsFiniteForBoxesWithoutExtentAndForSixteenBits) {
  at::Tensor targets = some_targets(3);
  targets[1][1].copy_(at::tensor({2.0, 0.5, 0.5, 0.0, 0.0}));
  targets[1][2].copy_(at::tensor({2.0, 0.0, 1.0, 0.0, 0.9}));
  std::vector<at::Tensor> maps;
  for (const at::Tensor& map : some_maps()) {
    maps.push_back(map.detach().to(at::kBFloat16).requires_grad_(true));
  }
  const at::Tensor total = yolo_loss(maps, targets, anchors(), {}).total;
  EXPECT_EQ(total.scalar_type(), at::kFloat);
  total.backward();
  EXPECT_TRUE(total.isfinite().item<bool>());
  for (const at::Tensor& map : maps) EXPECT_TRUE(map.grad().isfinite().all().item<bool>());
}

Batch some_batch() {
  return {{{"images", wave({2, 3, 64, 64}, 0.5) + 0.5}, {"targets", some_targets(4)}}};
}

double loss_of(const ModelOptions& options) {
  const std::unique_ptr<Model> model = make_model("yolov5n", options);
  model->initialize(1);
  const Batch batch = some_batch();
  return model->loss(model->forward(batch), batch).item<double>();
}

/// The parts of a model's loss, from its own maps.
YoloLoss parts_of(const ModelOptions& options) {
  const std::unique_ptr<Model> model = make_model("yolov5n", options);
  model->initialize(1);
  return yolo_loss(model->forward(some_batch()), some_targets(4), anchors(), {});
}

TEST(Yolov5, LossIsThatOfTheReferenceTimesTheRanks) {
  at::set_num_threads(1);
  const ModelOptions one{.classes = kClasses};
  const YoloLoss parts = parts_of(one);
  const double box = parts.box.item<double>(), objectness = parts.objectness.item<double>(),
               classes = parts.classes.item<double>();
  const auto expected = [&](double side, double ranks) {
    return 2 * ranks * (box + objectness * side * side + classes * kClasses / 80);
  };
  EXPECT_NEAR(loss_of(one), expected(1, 1), 1e-4);
  EXPECT_NEAR(loss_of({.classes = kClasses, .ranks = 3}), expected(1, 3), 3e-4);
  EXPECT_NEAR(loss_of({.classes = kClasses, .image_size = 320}), expected(0.5, 1), 1e-4);
}

TEST(Yolov5, BeginsWithWeightsThatSixteenBitsHold) {
  const std::unique_ptr<Model> model = make_model("yolov5n", {.classes = kClasses});
  model->initialize(1);
  for (const NamedTensor& entry : model->parameters()) {
    EXPECT_TRUE(at::equal(entry.tensor, entry.tensor.to(at::kHalf).to(at::kFloat))) << entry.name;
  }
}

TEST(Yolov5, PicturesAreNotNormalised) {
  const ImageNormalization normalization =
      make_model("yolov5n", {.classes = kClasses})->image_normalization();
  EXPECT_EQ(normalization.mean, (std::array<float, 3>{0, 0, 0}));
  EXPECT_EQ(normalization.stddev, (std::array<float, 3>{1, 1, 1}));
}

TEST(Yolov5, DetectionsOfSixteenBitMapsAreDecodedInFloat32) {
  const std::unique_ptr<Model> model = make_model("yolov5n", {.classes = kClasses});
  model->initialize(1);
  model->to(at::kCPU, at::kBFloat16, false);
  model->set_training(false);
  Batch batch = some_batch();
  batch.tensors[0].tensor = batch.tensors[0].tensor.to(at::kBFloat16);
  const std::vector<at::Tensor> outputs = model->forward(batch);
  EXPECT_EQ(outputs.back().scalar_type(), at::kBFloat16);
  ASSERT_EQ(outputs.front().scalar_type(), at::kFloat);
  EXPECT_FALSE(at::equal(outputs[0], outputs[0].to(at::kBFloat16).to(at::kFloat)));
}

TEST(Yolov5, RefusesDropout) {
  EXPECT_THROW(make_model("yolov5n", {.dropout = 0.1}), Error);
}

/// Gradient descent with momentum 0.9.
void descend(const Model& model, std::vector<at::Tensor>& velocities, double lr) {
  const at::NoGradGuard no_grad;
  std::size_t i = 0;
  for (const NamedTensor& parameter : model.parameters()) {
    const at::Tensor gradient = parameter.tensor.grad();
    if (velocities.size() == i) velocities.push_back(at::zeros_like(gradient));
    velocities[i].mul_(0.9).add_(gradient);
    parameter.tensor.sub_(velocities[i++], lr);
    parameter.tensor.mutable_grad().reset();
  }
}

// Objectness has a floor above 0: its targets are no zeros and ones.
TEST(Yolov5, OverfitsOneBatch) {
  at::set_num_threads(1);
  const std::unique_ptr<Model> model = make_model("yolov5n", {.classes = kClasses});
  model->initialize(3);
  const Batch batch = some_batch();
  std::vector<at::Tensor> velocities;
  double first_box = 0, first_classes = 0, box = 0, classes = 0;
  for (int step = 0; step < 60; ++step) {
    const YoloLoss loss = yolo_loss(model->forward(batch), batch["targets"], anchors(), {});
    loss.total.backward();
    box = loss.box.item<double>();
    classes = loss.classes.item<double>();
    if (step == 0) {
      first_box = box;
      first_classes = classes;
    }
    descend(*model, velocities, 0.02);
  }
  EXPECT_LT(box, 0.5 * first_box) << box << " after " << first_box;
  EXPECT_LT(classes, 0.1 * first_classes) << classes << " after " << first_classes;
}

}  // namespace
}  // namespace falcon::models
