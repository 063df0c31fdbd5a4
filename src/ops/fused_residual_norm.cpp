#include "ops/fused_residual_norm.h"

#include <mutex>

#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/csrc/autograd/custom_function.h>

#include "ops/cuda/residual_norm_kernels.h"
#include "ops/element.h"

namespace falcon::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

cuda::RandomState next_random(at::Device device) {
  auto* generator = at::get_generator_or_default<at::CUDAGeneratorImpl>(
      std::nullopt, at::cuda::detail::getDefaultCUDAGenerator(device.index()));
  const std::lock_guard<std::mutex> lock(generator->mutex_);
  const at::PhiloxCudaState state = generator->philox_cuda_state(4);  // its smallest step
  if (!state.captured_) return {state.seed_.val, state.offset_.val, nullptr, nullptr};
  return {0, state.offset_intragraph_, state.seed_.ptr, state.offset_.ptr};
}

class FusedResidualNorm : public torch::autograd::Function<FusedResidualNorm> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const at::Tensor& residual, const at::Tensor& weight,
                            const at::Tensor& bias, double eps, double dropout) {
    const c10::cuda::CUDAGuard guard(x.device());
    const std::int64_t width = x.size(-1);
    const std::int64_t rows = x.numel() / width;
    const at::TensorOptions floats = weight.options().requires_grad(false);
    at::Tensor y = at::empty_like(x), sum = at::empty_like(x), mask;
    at::Tensor mean = at::empty({rows}, floats), inverse_std = at::empty({rows}, floats);
    cuda::ResidualNormForward job;
    job.rows = rows;
    job.width = width;
    job.x = x.const_data_ptr();
    job.residual = residual.const_data_ptr();
    job.sum = sum.mutable_data_ptr();
    job.y = y.mutable_data_ptr();
    job.weight = weight.const_data_ptr<float>();
    job.bias = bias.const_data_ptr<float>();
    job.mean = mean.mutable_data_ptr<float>();
    job.inverse_std = inverse_std.mutable_data_ptr<float>();
    job.eps = static_cast<float>(eps);
    job.dropout = cuda::residual_norm_dropout(dropout);
    if (job.dropout > 0) {
      mask = at::empty({rows, width / 8}, floats.dtype(at::kByte));
      job.mask = mask.mutable_data_ptr<std::uint8_t>();
      job.random = next_random(x.device());
    }
    cuda::residual_norm_forward(job, element_of(x.scalar_type()), at::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    context->save_for_backward({sum, weight, mean, inverse_std, mask});
    context->saved_data["dropout"] = static_cast<double>(job.dropout);
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &sum = saved[0], &weight = saved[1], &mask = saved[4];
    const c10::cuda::CUDAGuard guard(sum.device());
    const at::Tensor dy = gradients[0].contiguous();
    const at::TensorOptions floats = saved[2].options();
    const std::int64_t width = sum.size(-1);
    at::Tensor dresidual = at::empty_like(sum), dx;
    at::Tensor dweight = at::empty({width}, floats), dbias = at::empty({width}, floats);
    cuda::ResidualNormBackward job;
    job.rows = sum.numel() / width;
    job.width = width;
    const int blocks = cuda::residual_norm_blocks(
        job.rows, at::cuda::getCurrentDeviceProperties()->multiProcessorCount);
    const at::Tensor scratch = at::empty({blocks, cuda::residual_norm_scratch(width)}, floats);
    job.dy = dy.const_data_ptr();
    job.sum = sum.const_data_ptr();
    job.weight = weight.const_data_ptr<float>();
    job.mean = saved[2].const_data_ptr<float>();
    job.inverse_std = saved[3].const_data_ptr<float>();
    job.dropout = static_cast<float>(context->saved_data["dropout"].toDouble());
    job.dresidual = dresidual.mutable_data_ptr();
    if (mask.defined()) {
      dx = at::empty_like(sum);
      job.mask = mask.const_data_ptr<std::uint8_t>();
      job.dx = dx.mutable_data_ptr();
    }
    job.dweight = dweight.mutable_data_ptr<float>();
    job.dbias = dbias.mutable_data_ptr<float>();
    job.scratch = scratch.mutable_data_ptr<float>();
    cuda::residual_norm_backward(job, blocks, element_of(sum.scalar_type()),
                                 at::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return {dx.defined() ? dx : dresidual, dresidual, dweight, dbias, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

bool has_fused_residual_norm() {
  return true;
}

bool fused_residual_norm_applies(const at::Tensor& x, const LayerNormTensors& norm,
                                 const at::Tensor& residual) {
  if (!x.is_cuda() || !residual.defined() || norm.weight.scalar_type() != at::kFloat) return false;
  const at::ScalarType type = x.scalar_type();
  const bool is_known = type == at::kFloat || type == at::kHalf || type == at::kBFloat16;
  return is_known && x.sizes() == residual.sizes() && cuda::residual_norm_supported(x.size(-1));
}

at::Tensor fused_residual_norm(const at::Tensor& x, const LayerNormTensors& norm,
                               const at::Tensor& residual, double dropout) {
  return FusedResidualNorm::apply(x.contiguous(), residual.to(x.scalar_type()).contiguous(),
                                  norm.weight, norm.bias, norm.eps, dropout);
}

}  // namespace falcon::ops
