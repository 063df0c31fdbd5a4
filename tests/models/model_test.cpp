// What a trainer relies on in every model of the catalog.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

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

bool takes_pictures(const std::string& name) {
  return catalog::find_model(name)->image_size > 0;
}

/// Sequences of 12 tokens, the second half of every other one padding.
Batch token_batch(std::int64_t size) {
  constexpr std::int64_t kLength = 12;
  const at::Tensor places = at::arange(size * kLength, at::kLong).reshape({size, kLength});
  const at::Tensor mask = places.remainder(2 * kLength).lt(kLength + kLength / 2).to(at::kLong);
  return {{{"input_ids", places.mul(37).remainder(1000).add(1).mul(mask)},
           {"token_type_ids", places.remainder(kLength).gt(3).to(at::kLong).mul(mask)},
           {"attention_mask", mask},
           {"start_positions", at::arange(size, at::kLong).add(1).remainder(6)},
           {"end_positions", at::arange(size, at::kLong).add(2).remainder(6)}}};
}

Batch picture_batch(std::int64_t size, bool channels_last) {
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

/// For the model of this name; sample i is the same in every batch.
Batch small_batch(const std::string& name, std::int64_t size, bool channels_last = false) {
  return takes_pictures(name) ? picture_batch(size, channels_last) : token_batch(size);
}

/// Few classes; a transformer of one narrow layer.
ModelOptions small_options() {
  return {.classes = kClasses, .layers = 1, .hidden_size = 16, .heads = 2};
}

class AnyModel : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    at::set_num_threads(1);
    model_ = make_model(GetParam(), small_options());
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
    const ModelOptions options{.classes = std::max<std::int64_t>(1, facts.classes)};
    EXPECT_EQ(parameter_count(*make_model(name, options)), facts.parameters);
    RunSpec spec;
    spec.model_options.layers = 1;
    spec.model_options.hidden_size = 16;
    spec.model_options.heads = 2;
    const std::int64_t classes = facts.classes > 0 ? kClasses - facts.classes : 0;
    EXPECT_EQ(parameter_count(*make_model(name, small_options())),
              catalog::sized(facts, spec).parameters + classes * facts.parameters_per_class)
        << name;
  }
}

/// The number that torchvision's mobilenet_v2(width_mult=0.25) has.
TEST(MobileNetV2, HasTheReferencesChannelsInANarrowNetwork) {
  EXPECT_EQ(parameter_count(*make_model("mobilenet_v2", {.width = 0.25})), 1519112);
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
    const Batch batch = small_batch(GetParam(), 2, channels_last);
    model_->loss(model_->forward(batch), batch).backward();
    for (const NamedTensor& parameter : model_->parameters()) {
      EXPECT_EQ(parameter.tensor.grad().strides(), parameter.tensor.strides())
          << parameter.name << ' ' << parameter.tensor.sizes();
    }
  }
}

TEST_P(AnyModel, EvaluationUsesRunningStatisticsAndChangesNoState) {
  const at::NoGradGuard no_grad;
  const Batch batch = small_batch(GetParam(), 3);
  model_->set_training(false);
  std::vector<at::Tensor> before;
  for (const NamedTensor& entry : model_->state()) {
    before.push_back(entry.tensor.clone());
  }
  const at::Tensor together = model_->forward(batch).at(0);
  // Batch statistics would make a sample's logits depend on its neighbours.
  Batch alone = batch;
  for (NamedTensor& entry : alone.tensors) entry.tensor = entry.tensor.narrow(0, 0, 1);
  EXPECT_TRUE(at::allclose(model_->forward(alone).at(0), together.narrow(0, 0, 1), 1e-4, 1e-5));
  std::size_t i = 0;
  for (const NamedTensor& entry : model_->state()) {
    EXPECT_TRUE(at::equal(entry.tensor, before[i++])) << entry.name;
  }
}

TEST_P(AnyModel, TrainingCountsStepsAndMovesStatistics) {
  const at::NoGradGuard no_grad;
  model_->forward(small_batch(GetParam(), 2));
  model_->forward(small_batch(GetParam(), 2));
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
  ModelOptions options = small_options();
  options.dropout = 0;
  const std::unique_ptr<Model> twin = make_model(GetParam(), options);
  model_ = make_model(GetParam(), options);
  model_->initialize(1);
  twin->initialize(1);
  std::vector<std::string> tapped;
  twin->set_tap([&tapped](std::string_view name, const at::Tensor& value) {
    tapped.emplace_back(name);
    EXPECT_EQ(value.size(0), 2);
  });
  const Batch batch = small_batch(GetParam(), 2);
  EXPECT_TRUE(at::equal(model_->forward(batch).at(0), twin->forward(batch).at(0)));
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

/// First and last loss of this many steps of plain gradient descent on one batch.
std::pair<double, double> overfit(Model& model, const Batch& batch, int steps, double lr) {
  at::set_num_threads(1);
  model.initialize(3);
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const at::Tensor loss = model.loss(model.forward(batch), batch);
    loss.backward();
    losses.push_back(loss.item<double>());
    const at::NoGradGuard no_grad;
    for (const NamedTensor& parameter : model.parameters()) {
      parameter.tensor.sub_(parameter.tensor.grad(), lr);
      parameter.tensor.mutable_grad().reset();
    }
  }
  return {losses.front(), losses.back()};
}

TEST(MobileNetV2, OverfitsOneBatch) {
  const auto model = make_model("mobilenet_v2", {.classes = kClasses, .dropout = 0});
  const auto [first, last] = overfit(*model, picture_batch(5, false), 60, 0.05);
  EXPECT_GT(first, 1.0);
  EXPECT_LT(last, 0.05);
}

TEST(Resnet50, OverfitsOneBatch) {
  const auto model = make_model("resnet50", {.classes = kClasses});
  const auto [first, last] = overfit(*model, picture_batch(5, false), 20, 0.02);
  EXPECT_GT(first, 1.0);
  EXPECT_LT(last, 0.05);
}

TEST(Bert, OverfitsOneBatch) {
  const auto model =
      make_model("bert_base", {.dropout = 0, .layers = 2, .hidden_size = 32, .heads = 2});
  const auto [first, last] = overfit(*model, token_batch(6), 150, 0.3);
  EXPECT_GT(first, 2.0);  // ln 12 = 2.5 for a guess
  EXPECT_LT(last, 0.05);
}

TEST(Bert, PaddingTokensDoNotReachTheOthers) {
  const at::NoGradGuard no_grad;
  const auto model = make_model("bert_base", {.layers = 2, .hidden_size = 16, .heads = 4});
  model->initialize(1);
  model->set_training(false);
  Batch batch = token_batch(2);
  const at::Tensor before = model->forward(batch).at(0);
  for (NamedTensor& entry : batch.tensors) {
    if (entry.name == "input_ids") entry.tensor = entry.tensor.add(batch["attention_mask"].eq(0));
  }
  const at::Tensor after = model->forward(batch).at(0);
  EXPECT_TRUE(at::allclose(after[0], before[0]));
  EXPECT_TRUE(at::allclose(after[1].narrow(0, 0, 6), before[1].narrow(0, 0, 6)));
  EXPECT_FALSE(at::allclose(after[1], before[1])) << "padding has outputs of its own";
}

TEST(Bert, SaysWhichAttentionItTook) {
  const auto model = make_model("bert_base", {.layers = 1, .hidden_size = 16, .heads = 4});
  model->initialize(1);
  model->forward(token_batch(2));
  EXPECT_THAT(model->choices().at("attention"),
              testing::AnyOf("math", "flash", "memory-efficient", "cuDNN"));
}

TEST(Bert, RefusesHeadsThatDoNotDivideAndSequencesThatAreTooLong) {
  EXPECT_THROW(make_model("bert_base", {.layers = 1, .hidden_size = 16, .heads = 3}), Error);
  const auto model = make_model("bert_base", {.layers = 1, .hidden_size = 16, .heads = 2});
  const at::Tensor ids = at::arange(513, at::kLong).unsqueeze(0);
  EXPECT_THROW(
      model->forward({{{"input_ids", ids}, {"token_type_ids", ids}, {"attention_mask", ids}}}),
      Error);
}

TEST(AnyDropout, ActsInTrainingOnly) {
  const at::NoGradGuard no_grad;
  for (const std::string name : {"mobilenet_v2", "bert_base"}) {
    ModelOptions options = small_options();
    const std::unique_ptr<Model> model = make_model(name, options);
    options.dropout = 0;
    const std::unique_ptr<Model> without = make_model(name, options);
    for (const bool training : {true, false}) {
      for (Model* each : {model.get(), without.get()}) {
        each->initialize(1);
        each->set_training(training);
      }
      const Batch batch = small_batch(name, 4);
      EXPECT_NE(at::equal(model->forward(batch).at(0), without->forward(batch).at(0)), training)
          << name;
    }
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
  const Batch batch = picture_batch(1, false);
  EXPECT_EQ(batch["labels"].numel(), 1);
  EXPECT_THROW(batch["boxes"], std::out_of_range);
}

}  // namespace
}  // namespace falcon::models
