#include "ops/momentum_update.h"

#include <algorithm>

#include <ATen/ops/_fused_sgd.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "ops/cuda/momentum_kernels.h"

namespace falcon::ops {
namespace {

const float* pointer_of(const std::optional<at::Tensor>& scalar) {
  return scalar ? scalar->const_data_ptr<float>() : nullptr;
}

/// ATen's kernel takes the momentum from the host, which does not know it: it follows the updates.
void update_on_device(at::TensorList parameters, at::TensorList gradients,
                      at::TensorList velocities, const MomentumUpdate& job) {
  const c10::cuda::CUDAGuard guard(parameters[0].device());
  cuda::MomentumRates rates;
  rates.lr = job.lr.const_data_ptr<float>();
  rates.momentum = job.varying_momentum->const_data_ptr<float>();
  rates.grad_scale = pointer_of(job.grad_scale);
  rates.found_inf = pointer_of(job.found_inf);
  rates.weight_decay = static_cast<float>(job.weight_decay);
  rates.nesterov = job.nesterov;
  for (std::size_t begin = 0; begin < parameters.size(); begin += cuda::MomentumTensors::kMax) {
    cuda::MomentumTensors tensors;
    const std::size_t end = std::min(parameters.size(), begin + cuda::MomentumTensors::kMax);
    for (std::size_t i = begin; i < end; ++i) {
      tensors.add(parameters[i].mutable_data_ptr<float>(), gradients[i].const_data_ptr<float>(),
                  velocities[i].mutable_data_ptr<float>(), parameters[i].numel());
    }
    cuda::momentum_update(tensors, rates, c10::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
}

}  // namespace

void momentum_update(at::TensorList parameters, at::TensorList gradients, at::TensorList velocities,
                     const MomentumUpdate& job) {
  if (parameters.empty()) return;
  if (job.varying_momentum && job.varying_momentum->is_cuda()) {
    update_on_device(parameters, gradients, velocities, job);
    return;
  }
  const double momentum =
      job.varying_momentum ? job.varying_momentum->item<double>() : job.momentum;
  at::_fused_sgd_(parameters, gradients, velocities, job.weight_decay, momentum, job.lr,
                  /*dampening=*/0, job.nesterov, /*maximize=*/false, /*is_first_step=*/false,
                  job.grad_scale, job.found_inf);
}

}  // namespace falcon::ops
