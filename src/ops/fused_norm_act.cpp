#include "ops/fused_norm_act.h"

#include <optional>

#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/csrc/autograd/custom_function.h>

#include "ops/cuda/norm_act_kernels.h"
#include "ops/element.h"

namespace falcon::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::int64_t rows_of(const at::Tensor& x) {
  return x.numel() / x.size(1);
}

cuda::NormGrid grid_of(const at::Tensor& x) {
  return cuda::norm_grid(rows_of(x), x.size(1), element_of(x.scalar_type()),
                         at::cuda::getCurrentDeviceProperties()->multiProcessorCount);
}

cuda::Act act_of(Activation activation) {
  switch (activation) {
    case Activation::kRelu:
      return cuda::Act::kRelu;
    case Activation::kRelu6:
      return cuda::Act::kRelu6;
    case Activation::kSilu:
      return cuda::Act::kSilu;
    case Activation::kNone:
      break;
  }
  return cuda::Act::kNone;
}

class FusedNormAct : public torch::autograd::Function<FusedNormAct> {
 public:
  // Weight and bias are arguments of their own so that autograd sees them; the other tensors of
  // norm carry no gradient.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const at::Tensor& bias, const std::optional<at::Tensor>& residual,
                            const NormTensors& norm, std::int64_t activation) {
    const c10::cuda::CUDAGuard guard(x.device());
    const cuda::NormGrid grid = grid_of(x);
    const at::TensorOptions floats = weight.options().requires_grad(false);
    at::Tensor y = at::empty_like(x), mean = at::empty({x.size(1)}, floats),
               inverse_std = at::empty({x.size(1)}, floats);
    const at::Tensor scratch =
        at::empty({static_cast<std::int64_t>(cuda::norm_scratch_floats(grid, x.size(1)))}, floats);
    if (!norm.tickets.defined()) norm.tickets = at::zeros({x.size(1)}, floats.dtype(at::kInt));
    cuda::NormForward job;
    job.rows = rows_of(x);
    job.channels = x.size(1);
    job.x = x.const_data_ptr();
    job.residual = residual ? residual->const_data_ptr() : nullptr;
    job.y = y.mutable_data_ptr();
    job.weight = weight.const_data_ptr<float>();
    job.bias = bias.const_data_ptr<float>();
    if (norm.running_mean.defined()) {
      job.running_mean = norm.running_mean.mutable_data_ptr<float>();
      job.running_var = norm.running_var.mutable_data_ptr<float>();
    }
    job.mean = mean.mutable_data_ptr<float>();
    job.inverse_std = inverse_std.mutable_data_ptr<float>();
    job.scratch = scratch.mutable_data_ptr<float>();
    job.tickets = reinterpret_cast<unsigned*>(norm.tickets.mutable_data_ptr<int>());
    job.momentum = static_cast<float>(norm.momentum);
    job.eps = static_cast<float>(norm.eps);
    job.act = act_of(static_cast<Activation>(activation));
    cuda::norm_act_forward(job, grid, element_of(x.scalar_type()),
                           at::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    // y tells where the activation passed only with a residual before it; else that follows from x
    const bool keeps_y = residual && job.act != cuda::Act::kSilu;
    context->save_for_backward(
        {x, keeps_y ? y : at::Tensor(), weight, bias, mean, inverse_std, norm.tickets});
    context->saved_data["activation"] = activation;
    context->saved_data["has_residual"] = residual.has_value();
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &y = saved[1], &weight = saved[2];
    const c10::cuda::CUDAGuard guard(x.device());
    const at::Tensor dy = gradients[0].contiguous(at::MemoryFormat::ChannelsLast);
    const cuda::NormGrid grid = grid_of(x);
    const at::TensorOptions floats = saved[4].options();
    at::Tensor dx = at::empty_like(x), dresidual = y.defined() ? at::empty_like(y) : at::Tensor();
    at::Tensor dweight = at::empty({x.size(1)}, floats), dbias = at::empty({x.size(1)}, floats);
    const at::Tensor scratch =
        at::empty({static_cast<std::int64_t>(cuda::norm_scratch_floats(grid, x.size(1)))}, floats);
    cuda::NormBackward job;
    job.rows = rows_of(x);
    job.channels = x.size(1);
    job.dy = dy.const_data_ptr();
    job.x = x.const_data_ptr();
    job.y = y.defined() ? y.const_data_ptr() : nullptr;
    job.dresidual = dresidual.defined() ? dresidual.mutable_data_ptr() : nullptr;
    job.dx = dx.mutable_data_ptr();
    job.weight = weight.const_data_ptr<float>();
    job.bias = saved[3].const_data_ptr<float>();
    job.mean = saved[4].const_data_ptr<float>();
    job.inverse_std = saved[5].const_data_ptr<float>();
    job.dweight = dweight.mutable_data_ptr<float>();
    job.dbias = dbias.mutable_data_ptr<float>();
    job.scratch = scratch.mutable_data_ptr<float>();
    job.tickets = reinterpret_cast<unsigned*>(saved[6].mutable_data_ptr<int>());
    job.act = act_of(static_cast<Activation>(context->saved_data["activation"].toInt()));
    cuda::norm_act_backward(job, grid, element_of(x.scalar_type()),
                            at::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    // what was added after the activation has the gradient of the result
    if (context->saved_data["has_residual"].toBool() && !y.defined()) dresidual = dy;
    return {dx, dweight, dbias, dresidual, at::Tensor(), at::Tensor()};
  }
};

bool is_fused_layout(const at::Tensor& x) {
  return x.dim() == 4 && x.is_contiguous(at::MemoryFormat::ChannelsLast);
}

}  // namespace

bool has_fused_norm_act() {
  return true;
}

bool fused_norm_act_applies(const at::Tensor& x, const NormTensors& norm, bool training,
                            const at::Tensor& residual) {
  if (!training || !x.is_cuda() || !is_fused_layout(x) || norm.weight.scalar_type() != at::kFloat)
    return false;
  const at::ScalarType type = x.scalar_type();
  if (type != at::kFloat && type != at::kHalf && type != at::kBFloat16) return false;
  if (residual.defined() && (residual.scalar_type() != type || !is_fused_layout(residual)))
    return false;
  return grid_of(x).supported;
}

at::Tensor fused_norm_act(const at::Tensor& x, const NormTensors& norm, Activation activation,
                          const at::Tensor& residual) {
  // an undefined tensor is no argument that autograd takes
  const std::optional<at::Tensor> added =
      residual.defined() ? std::optional(residual) : std::nullopt;
  return FusedNormAct::apply(x, norm.weight, norm.bias, added, norm,
                             static_cast<std::int64_t>(activation));
}

}  // namespace falcon::ops
