// Moving tensors between layouts and types, and filling them by name.
#include "models/state.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <falconbench/errors.h>

namespace falcon::models {
namespace {

using Strides = std::vector<std::int64_t>;

at::Tensor filter(at::IntArrayRef shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    count *= size;
  }
  return at::arange(count, at::kFloat).reshape(shape);
}

TEST(MoveTensor, GivesChannelsLastStridesByFormulaAlsoForSizesOfOne) {
  struct Case {
    Strides shape;
    Strides strides;
  };
  for (const Case& test : {Case{{8, 4, 3, 3}, {36, 1, 12, 4}}, Case{{8, 4, 1, 1}, {4, 1, 4, 4}},
                           Case{{8, 1, 3, 3}, {9, 1, 3, 1}}}) {
    const at::Tensor tensor = filter(test.shape);
    const at::Tensor before = tensor.clone();
    move_tensor(tensor, at::kCPU, at::kFloat, /*channels_last=*/true);
    EXPECT_EQ(tensor.strides(), test.strides);
    EXPECT_TRUE(at::equal(tensor, before));
    move_tensor(tensor, at::kCPU, at::kFloat, /*channels_last=*/false);
    EXPECT_EQ(tensor.strides(), before.strides());
    EXPECT_TRUE(at::equal(tensor, before));
  }
}

TEST(MoveTensor, KeepsIdentityDropsTheGradientAndConvertsFloatsOnly) {
  const at::Tensor parameter = filter({2, 3, 1, 1}).requires_grad_(true);
  const at::TensorImpl* identity = parameter.unsafeGetTensorImpl();
  parameter.square().sum().backward();
  move_tensor(parameter, at::kCPU, at::kDouble, true);
  EXPECT_EQ(parameter.unsafeGetTensorImpl(), identity);
  EXPECT_EQ(parameter.scalar_type(), at::kDouble);
  EXPECT_TRUE(parameter.requires_grad());
  EXPECT_TRUE(parameter.is_leaf());
  EXPECT_FALSE(parameter.grad().defined());
  parameter.square().sum().backward();
  EXPECT_EQ(parameter.grad().scalar_type(), at::kDouble);

  const at::Tensor count = at::zeros({}, at::kLong);
  move_tensor(count, at::kCPU, at::kDouble, true);
  EXPECT_EQ(count.scalar_type(), at::kLong);
}

TEST(CopyState, SetsEveryTensorWhateverTypeAndLayoutItComesIn) {
  const std::unique_ptr<Model> from = make_model("mobilenet_v2", {.classes = 4});
  const std::unique_ptr<Model> to = make_model("mobilenet_v2", {.classes = 4});
  from->initialize(5);
  to->to(at::kCPU, at::kFloat, /*channels_last=*/true);
  from->to(at::kCPU, at::kDouble, /*channels_last=*/false);
  copy_state(*to, from->state(), "weights");
  const std::vector<NamedTensor> expected = from->state();
  std::size_t i = 0;
  for (const NamedTensor& entry : to->state()) {
    EXPECT_TRUE(at::equal(entry.tensor.to(at::kDouble), expected.at(i).tensor.to(at::kDouble)))
        << entry.name;
    ++i;
  }
}

TEST(CopyState, NamesAllThatDoesNotFitAndChangesNothing) {
  const std::unique_ptr<Model> model = make_model("mobilenet_v2", {.classes = 4});
  std::vector<NamedTensor> values;
  for (const NamedTensor& entry : model->state()) {
    values.push_back({entry.name, at::ones(entry.tensor.sizes())});
  }
  values.front().name = "features.0.0.wait";
  values.back().tensor = at::ones({3});
  try {
    copy_state(*model, values, "w.safetensors");
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_EQ(error.faults().size(), 3U);
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("w.safetensors"),
                                             testing::HasSubstr("features.0.0.weight"),
                                             testing::HasSubstr("features.0.0.wait"),
                                             testing::HasSubstr("classifier.1.bias")));
  }
  EXPECT_TRUE(model->parameters().front().tensor.eq(0).all().item<bool>());
}

}  // namespace
}  // namespace falcon::models
