// What a trainer relies on in every model of the catalog.
#include <limits>

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <falconbench/catalog.h>
#include <falconbench/errors.h>
#include <falconbench/model.h>

#include "models/catalog.h"

namespace falcon::models {
namespace {

constexpr std::int64_t kClasses = 5;

Batch small_batch(std::int64_t size, bool channels_last) {
  at::Tensor images = at::sin(at::arange(size * 3 * 32 * 32, at::kFloat).mul(0.37).square())
                          .reshape({size, 3, 32, 32});
  if (channels_last) {
    images = images.contiguous(at::MemoryFormat::ChannelsLast);
  }
  // a box in every picture, and padding
  const at::Tensor targets = at::full({size, 3, 5}, -1, at::kFloat);
  targets.select(1, 0).copy_(at::tensor({1.0, 0.4, 0.6, 0.5, 0.3}));
  return {{{"images", images},
           {"labels", at::arange(size, at::kLong).remainder(kClasses)},
           {"targets", targets}}};
}

/// One of each family: the sizes of YOLOv5 differ in numbers only.
std::vector<std::string> families() {
  std::vector<std::string> names;
  for (const std::string& name : model_names()) {
    if (!name.starts_with("yolov5") || name == "yolov5n") names.push_back(name);
  }
  return names;
}

class AnyModel : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    at::set_num_threads(1);
    model_ = make_model(GetParam(), {.classes = kClasses});
    model_->initialize(1);
  }
  std::unique_ptr<Model> model_;
};

std::int64_t parameter_count(const Model& model) {
  std::int64_t count = 0;
  for (const NamedTensor& parameter : model.parameters()) count += parameter.tensor.numel();
  return count;
}

TEST(Models, HaveTheParametersOfTheirFacts) {
  for (const std::string& name : model_names()) {
    const ModelFacts& facts = *catalog::find_model(name);
    for (const std::int64_t classes : {facts.classes, kClasses}) {
      EXPECT_EQ(parameter_count(*make_model(name, {.classes = classes})),
                facts.parameters + (classes - facts.classes) * facts.parameters_per_class)
          << name;
    }
  }
}

TEST_P(AnyModel, StateIsParametersAndBuffersInOneOrder) {
  std::vector<std::string> names;
  for (const NamedTensor& entry : model_->state()) {
    names.push_back(entry.name);
  }
  std::vector<std::string> parts;
  for (const auto& part : {model_->parameters(), model_->buffers()}) {
    std::size_t last = 0;
    for (const NamedTensor& entry : part) {
      const auto place = std::find(names.begin(), names.end(), entry.name) - names.begin();
      EXPECT_GE(static_cast<std::size_t>(place), last) << entry.name;
      last = static_cast<std::size_t>(place);
      parts.push_back(entry.name);
    }
  }
  EXPECT_THAT(parts, testing::UnorderedElementsAreArray(names));
}

TEST_P(AnyModel, GradientsHaveTheStridesOfTheirParameters) {
  for (const bool channels_last : {false, true}) {
    model_->to(at::kCPU, at::kFloat, channels_last);
    const Batch batch = small_batch(2, channels_last);
    model_->loss(model_->forward(batch), batch).backward();
    for (const NamedTensor& parameter : model_->parameters()) {
      EXPECT_EQ(parameter.tensor.grad().strides(), parameter.tensor.strides())
          << parameter.name << ' ' << parameter.tensor.sizes();
    }
  }
}

TEST_P(AnyModel, EvaluationUsesRunningStatisticsAndChangesNoState) {
  const at::NoGradGuard no_grad;
  const Batch batch = small_batch(3, false);
  model_->set_training(false);
  std::vector<at::Tensor> before;
  for (const NamedTensor& entry : model_->state()) {
    before.push_back(entry.tensor.clone());
  }
  const at::Tensor together = model_->forward(batch).at(0);
  // Batch statistics would make a sample's logits depend on its neighbours.
  const Batch alone{{{"images", batch["images"].narrow(0, 0, 1)}}};
  EXPECT_TRUE(at::allclose(model_->forward(alone).at(0), together.narrow(0, 0, 1), 1e-4, 1e-5));
  std::size_t i = 0;
  for (const NamedTensor& entry : model_->state()) {
    EXPECT_TRUE(at::equal(entry.tensor, before[i++])) << entry.name;
  }
}

TEST_P(AnyModel, TrainingCountsStepsAndMovesStatistics) {
  const at::NoGradGuard no_grad;
  model_->forward(small_batch(2, false));
  model_->forward(small_batch(2, false));
  for (const NamedTensor& buffer : model_->buffers()) {
    if (buffer.name.ends_with("num_batches_tracked")) {
      EXPECT_EQ(buffer.tensor.item<std::int64_t>(), 2) << buffer.name;
    } else {
      const double start = buffer.name.ends_with("running_var") ? 1 : 0;
      EXPECT_FALSE(buffer.tensor.eq(start).all().item<bool>()) << buffer.name;
    }
  }
}

TEST_P(AnyModel, TapsChangeNothing) {
  const at::NoGradGuard no_grad;
  const std::unique_ptr<Model> twin = make_model(GetParam(), {.classes = kClasses, .dropout = 0});
  model_ = make_model(GetParam(), {.classes = kClasses, .dropout = 0});
  model_->initialize(1);
  twin->initialize(1);
  std::vector<std::string> tapped;
  twin->set_tap([&tapped](std::string_view name, const at::Tensor& value) {
    tapped.emplace_back(name);
    EXPECT_EQ(value.size(0), 2);
  });
  EXPECT_TRUE(at::equal(model_->forward(small_batch(2, false)).at(0),
                        twin->forward(small_batch(2, false)).at(0)));
  EXPECT_FALSE(tapped.empty());
  const std::vector<NamedTensor> twin_state = twin->state();
  std::size_t i = 0;
  for (const NamedTensor& entry : model_->state()) {
    EXPECT_TRUE(at::equal(entry.tensor, twin_state.at(i++).tensor)) << entry.name;
  }
}

TEST_P(AnyModel, RefusesOptionsOutOfRange) {
  for (const ModelOptions& options :
       {ModelOptions{.classes = 0}, ModelOptions{.classes = -3}, ModelOptions{.dropout = 1},
        ModelOptions{.dropout = std::numeric_limits<double>::quiet_NaN()}}) {
    EXPECT_THROW(make_model(GetParam(), options), Error);
  }
}

INSTANTIATE_TEST_SUITE_P(Catalog, AnyModel, testing::ValuesIn(families()));

TEST(MobileNetV2, OverfitsOneBatch) {
  at::set_num_threads(1);
  const std::unique_ptr<Model> model =
      make_model("mobilenet_v2", {.classes = kClasses, .dropout = 0});
  model->initialize(3);
  const Batch batch = small_batch(5, false);
  double first = 0;
  double last = 0;
  for (int step = 0; step < 60; ++step) {
    const at::Tensor loss = model->loss(model->forward(batch), batch);
    loss.backward();
    last = loss.item<double>();
    first = step == 0 ? last : first;
    const at::NoGradGuard no_grad;
    for (const NamedTensor& parameter : model->parameters()) {
      parameter.tensor.sub_(parameter.tensor.grad(), 0.05);
      parameter.tensor.mutable_grad().reset();
    }
  }
  EXPECT_GT(first, 1.0);
  EXPECT_LT(last, 0.05);
}

TEST(MobileNetV2, DropoutActsInTrainingOnly) {
  const at::NoGradGuard no_grad;
  const std::unique_ptr<Model> model = make_model("mobilenet_v2", {.classes = kClasses});
  const std::unique_ptr<Model> without =
      make_model("mobilenet_v2", {.classes = kClasses, .dropout = 0});
  for (const bool training : {true, false}) {
    for (Model* each : {model.get(), without.get()}) {
      each->initialize(1);
      each->set_training(training);
    }
    const Batch batch = small_batch(4, false);
    EXPECT_NE(at::equal(model->forward(batch).at(0), without->forward(batch).at(0)), training);
  }
}

TEST(ResNet50, RefusesDropout) {
  EXPECT_THROW(make_model("resnet50", {.dropout = 0.1}), Error);
}

TEST(MakeModel, NamesWhatItKnows) {
  try {
    make_model("resnet51", {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_THAT(error.what(), testing::HasSubstr("resnet50"));
  }
}

TEST(Batch, NamesTheTensorItLacks) {
  const Batch batch = small_batch(1, false);
  EXPECT_EQ(batch["labels"].numel(), 1);
  EXPECT_THROW(batch["boxes"], std::out_of_range);
}

}  // namespace
}  // namespace falcon::models
