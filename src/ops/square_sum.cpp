#include "ops/square_sum.h"

#include <algorithm>
#include <cstdint>

#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

#include "ops/cuda/square_sum_kernels.h"
#include "ops/element.h"

namespace falcon::ops {
namespace {

/// One launch for as many tensors as it takes.
struct Launch {
  cuda::SquaredTensors tensors;
  cuda::Element element = cuda::Element::kFloat;
};

std::vector<Launch> launches_of(const std::vector<at::TensorList>& lists) {
  std::vector<Launch> launches;
  for (const at::TensorList& list : lists) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i % cuda::SquaredTensors::kMax == 0) {
        launches.push_back({{}, element_of(list[i].scalar_type())});
      }
      launches.back().tensors.add(list[i].const_data_ptr(), list[i].numel());
    }
  }
  return launches;
}

at::Tensor sum_on_device(const std::vector<at::TensorList>& lists,
                         const at::TensorOptions& options) {
  const c10::cuda::CUDAGuard guard(options.device());
  const std::vector<Launch> launches = launches_of(lists);
  std::int64_t blocks = 0;
  for (const Launch& launch : launches) blocks += launch.tensors.blocks();
  const at::Tensor sums = at::empty({blocks}, options);
  float* place = sums.mutable_data_ptr<float>();
  for (const Launch& launch : launches) {
    cuda::square_sums(launch.tensors, launch.element, place, at::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    place += launch.tensors.blocks();
  }
  return sums.sum();
}

}  // namespace

at::Tensor square_sum(const std::vector<at::TensorList>& lists, const at::TensorOptions& options) {
  const at::ScalarType type = c10::typeMetaToScalarType(options.dtype());
  if (options.device().is_cuda()) return sum_on_device(lists, options);
  std::vector<at::Tensor> norms;
  for (const at::TensorList& list : lists) {
    if (list.empty()) continue;
    std::vector<at::Tensor> some = at::_foreach_norm(list, 2, type);
    norms.insert(norms.end(), some.begin(), some.end());
  }
  return norms.empty() ? at::zeros({}, options) : at::stack(norms).square().sum();
}

}  // namespace falcon::ops
