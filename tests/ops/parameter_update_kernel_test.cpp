// The updates of optimizers by one kernel, against ATen's on the CPU.
#include <functional>
#include <optional>
#include <vector>

#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

#include "ops/parameter_update.h"

namespace falcon::ops {
namespace {

at::Device gpu() {
  return {at::kCUDA, 0};
}

/// Of sizes with and without whole vectors and blocks, one that is not aligned, and many.
std::vector<at::Tensor> some_tensors() {
  std::vector<at::Tensor> all;
  for (const std::int64_t size : {1, 4, 777, 16384, 40000}) all.push_back(at::randn({size}));
  all.push_back(at::randn({40001}).narrow(0, 1, 40000));
  for (int i = 0; i < 100; ++i) all.push_back(at::randn({5}));
  return all;
}

std::vector<at::Tensor> to(const std::vector<at::Tensor>& tensors,
                           const at::TensorOptions& options) {
  std::vector<at::Tensor> moved;
  for (const at::Tensor& tensor : tensors)
    moved.push_back(tensor.to(options, false, /*copy=*/true));
  return moved;
}

/// The tensors of two updates.
struct Updated {
  std::vector<at::Tensor> values, gradients, copies, first, second;

  UpdatedTensors tensors() const { return {values, gradients, copies}; }
};

struct UpdateCase {
  at::ScalarType gradient = at::kFloat;
  std::optional<at::ScalarType> copy = {};
  bool overflow = false;
};

/// update(): twice on each side, by the kernel on the GPU and its twin on the CPU.
void expect_kernel_equals_twin(const UpdateCase& wanted,
                               const std::function<void(const Updated&, at::Device)>& update) {
  const std::vector<at::Tensor> values = some_tensors();
  const std::vector<at::Tensor> gradients = some_tensors();
  std::vector<at::Tensor> second = some_tensors();
  for (at::Tensor& v : second) v.abs_();
  const std::vector<at::Tensor> first = some_tensors();
  const auto on = [&](at::Device device) {
    const auto wide = at::TensorOptions().dtype(at::kFloat).device(device);
    Updated updated{to(values, wide),
                    to(gradients, wide.dtype(wanted.gradient)),
                    {},
                    to(first, wide),
                    to(second, wide)};
    if (wanted.copy) updated.copies = to(values, wide.dtype(*wanted.copy));
    for (int step = 0; step < 2; ++step) {
      Updated used = updated;  // ATen's kernels divide gradients in place
      used.gradients = to(updated.gradients, wide.dtype(wanted.gradient));
      update(used, device);
    }
    return updated;
  };
  const Updated kernel = on(gpu());
  const Updated twin = on(at::kCPU);
  const auto near = [](const at::Tensor& got, const at::Tensor& want, double tolerance) {
    EXPECT_TRUE(at::allclose(got.cpu().to(at::kFloat), want.to(at::kFloat), tolerance, tolerance));
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    SCOPED_TRACE(i);
    near(kernel.values[i], twin.values[i], 2e-5);
    near(kernel.first[i], twin.first[i], 2e-5);
    near(kernel.second[i], twin.second[i], 2e-5);
    if (wanted.copy && !wanted.overflow) {
      EXPECT_TRUE(at::equal(kernel.copies[i], kernel.values[i].to(*wanted.copy)));
    }
  }
  EXPECT_EQ(at::equal(kernel.values[4].cpu(), values[4]), wanted.overflow);
}

const std::vector<UpdateCase>& update_cases() {
  static const std::vector<UpdateCase> cases{
      {},
      {.overflow = true},
      {at::kHalf, at::kHalf},
      {at::kBFloat16, at::kBFloat16},
      {at::kFloat, at::kHalf},
      {at::kFloat, at::kBFloat16},
      {.gradient = at::kHalf, .copy = at::kHalf, .overflow = true},
  };
  return cases;
}

TEST(ParameterUpdateKernel, OfMomentumEqualsItsTwin) {
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no GPU";
  for (const UpdateCase& wanted : update_cases()) {
    for (const bool nesterov : {false, true}) {
      for (const double momentum : {0.75, 0.0}) {
        expect_kernel_equals_twin(wanted, [&](const Updated& updated, at::Device device) {
          const auto scalars = at::TensorOptions().dtype(at::kFloat).device(device);
          MomentumUpdate job;
          job.lr = at::full({}, 0.1, scalars);
          job.weight_decay = 0.01;
          job.nesterov = nesterov && momentum != 0;
          job.grad_scale = at::full({}, 8.0, scalars);
          job.found_inf = at::full({}, wanted.overflow ? 1.0 : 0.0, scalars);
          job.momentum = momentum;
          if (nesterov) job.varying_momentum = at::full({}, momentum, scalars);
          const bool has_velocities = momentum != 0;
          momentum_update(updated.tensors(),
                          has_velocities ? at::TensorList(updated.first) : at::TensorList(), job);
        });
      }
    }
  }
}

TEST(ParameterUpdateKernel, OfAdamWEqualsItsTwin) {
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no GPU";
  for (const UpdateCase& wanted : update_cases()) {
    float count = 0;
    expect_kernel_equals_twin(wanted, [&](const Updated& updated, at::Device device) {
      const auto scalars = at::TensorOptions().dtype(at::kFloat).device(device);
      count = count == 2 ? 1 : count + 1;
      AdamWUpdate job;
      job.lr = at::full({}, 0.01, scalars);
      job.count = at::full({}, count, scalars);
      job.beta1 = 0.9;
      job.beta2 = 0.999;
      job.eps = 1e-8;
      job.weight_decay = 0.01;
      job.grad_scale = at::full({}, 8.0, scalars);
      job.found_inf = at::full({}, wanted.overflow ? 1.0 : 0.0, scalars);
      adamw_update(updated.tensors(), updated.first, updated.second, job);
    });
  }
}

}  // namespace
}  // namespace falcon::ops
