#include "ops/parameter_update.h"

#include <algorithm>
#include <array>
#include <vector>

#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "ops/cuda/update_kernels.h"
#include "ops/element.h"

namespace falcon::ops {
namespace {

using States = std::array<at::TensorList, cuda::UpdateTensors::kMaxStates>;

const float* pointer_of(const std::optional<at::Tensor>& scalar) {
  return scalar ? scalar->const_data_ptr<float>() : nullptr;
}

cuda::UpdateTypes types_of(const UpdatedTensors& tensors) {
  cuda::UpdateTypes types;
  types.gradient = element_of(tensors.gradients[0].scalar_type());
  if (!tensors.copies.empty()) types.copy = element_of(tensors.copies[0].scalar_type());
  return types;
}

void add(cuda::UpdateTensors& all, const UpdatedTensors& tensors, const States& states,
         std::size_t i) {
  const int place = all.add(tensors.values[i].numel());
  all.value[place] = tensors.values[i].mutable_data_ptr<float>();
  all.gradient[place] = tensors.gradients[i].const_data_ptr();
  for (std::size_t s = 0; s < states.size(); ++s) {
    all.state[s][place] = states[s].empty() ? nullptr : states[s][i].mutable_data_ptr<float>();
  }
  all.copy[place] = tensors.copies.empty() ? nullptr : tensors.copies[i].mutable_data_ptr();
}

/// As many launches as the tensors take.
template <class Launch>
void update_on_device(const UpdatedTensors& tensors, const States& states, const Launch& launch) {
  const c10::cuda::CUDAGuard guard(tensors.values[0].device());
  const cuda::UpdateTypes types = types_of(tensors);
  const std::size_t count = tensors.values.size();
  for (std::size_t begin = 0; begin < count; begin += cuda::UpdateTensors::kMax) {
    cuda::UpdateTensors part;
    const std::size_t end = std::min(count, begin + cuda::UpdateTensors::kMax);
    for (std::size_t i = begin; i < end; ++i) add(part, tensors, states, i);
    launch(part, types, c10::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
}

/// ATen's kernels take gradients of the values' type.
std::vector<at::Tensor> gradients_like_values(const UpdatedTensors& tensors) {
  const at::ScalarType type = tensors.values[0].scalar_type();
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& gradient : tensors.gradients) gradients.push_back(gradient.to(type));
  return gradients;
}

void round_copies(const UpdatedTensors& tensors) {
  if (!tensors.copies.empty()) at::_foreach_copy_(tensors.copies, tensors.values);
}

}  // namespace

void momentum_update(const UpdatedTensors& tensors, at::TensorList velocities,
                     const MomentumUpdate& job) {
  if (tensors.values.empty()) return;
  if (tensors.values[0].is_cuda()) {
    cuda::MomentumRates rates;
    rates.lr = job.lr.const_data_ptr<float>();
    rates.varying_momentum = pointer_of(job.varying_momentum);
    rates.grad_scale = pointer_of(job.grad_scale);
    rates.found_inf = pointer_of(job.found_inf);
    rates.momentum = static_cast<float>(job.momentum);
    rates.weight_decay = static_cast<float>(job.weight_decay);
    rates.nesterov = job.nesterov;
    rates.has_velocity = !velocities.empty();
    update_on_device(tensors, {velocities}, [&](const auto& part, const auto& types, auto stream) {
      cuda::momentum_update(part, types, rates, stream);
    });
    return;
  }
  const double momentum =
      job.varying_momentum ? job.varying_momentum->item<double>() : job.momentum;
  at::_fused_sgd_(tensors.values, gradients_like_values(tensors), velocities, job.weight_decay,
                  momentum, job.lr, /*dampening=*/0, job.nesterov, /*maximize=*/false,
                  /*is_first_step=*/false, job.grad_scale, job.found_inf);
  round_copies(tensors);
}

void adamw_update(const UpdatedTensors& tensors, at::TensorList first_moments,
                  at::TensorList second_moments, const AdamWUpdate& job) {
  if (tensors.values.empty()) return;
  if (tensors.values[0].is_cuda()) {
    cuda::AdamWRates rates;
    rates.lr = job.lr.const_data_ptr<float>();
    rates.count = job.count.const_data_ptr<float>();
    rates.grad_scale = pointer_of(job.grad_scale);
    rates.found_inf = pointer_of(job.found_inf);
    rates.beta1 = job.beta1;
    rates.beta2 = job.beta2;
    rates.eps = static_cast<float>(job.eps);
    rates.weight_decay = static_cast<float>(job.weight_decay);
    update_on_device(tensors, {first_moments, second_moments},
                     [&](const auto& part, const auto& types, auto stream) {
                       cuda::adamw_update(part, types, rates, stream);
                     });
    return;
  }
  const std::vector<at::Tensor> counts(tensors.values.size(), job.count);
  at::_fused_adamw_(tensors.values, gradients_like_values(tensors), first_moments, second_moments,
                    /*max_exp_avg_sqs=*/{}, counts, job.lr, job.beta1, job.beta2, job.weight_decay,
                    job.eps, /*amsgrad=*/false, /*maximize=*/false, job.grad_scale, job.found_inf);
  round_copies(tensors);
}

}  // namespace falcon::ops
