#include "ops/column_sum.h"

#include <cstdint>

#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

#include "ops/cuda/column_sum_kernels.h"
#include "ops/element.h"

namespace falcon::ops {
namespace {

bool kernel_applies(const at::Tensor& x, at::ScalarType type) {
  const bool is_narrow = x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16;
  return x.is_cuda() && is_narrow && (type == at::kFloat || type == x.scalar_type()) &&
         cuda::column_sum_supported(x.size(1)) &&
         reinterpret_cast<std::uintptr_t>(x.const_data_ptr()) % 16 == 0;
}

}  // namespace

at::Tensor column_sum(const at::Tensor& x, at::ScalarType type) {
  if (!kernel_applies(x, type)) return x.sum(0, /*keepdim=*/false, type);
  const c10::cuda::CUDAGuard guard(x.device());
  const at::Tensor sums = at::empty({x.size(1)}, x.options().dtype(type));
  cuda::ColumnSum job;
  job.rows = x.size(0);
  job.width = x.size(1);
  job.x = x.const_data_ptr();
  job.sums = sums.mutable_data_ptr();
  job.wide_sums = type == at::kFloat;
  cuda::column_sum(job, element_of(x.scalar_type()), at::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return sums;
}

}  // namespace falcon::ops
