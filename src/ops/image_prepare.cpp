#include "ops/image_prepare.h"

#include <vector>

#include <ATen/ops/flip.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include "ops/element.h"
#include "ops/picture_output.h"

namespace falcon::ops {
namespace {

at::Tensor per_channel(const std::array<float, 3>& values, const at::Tensor& like) {
  const std::vector<double> wide(values.begin(), values.end());
  return at::tensor(wide, like.options());
}

}  // namespace

void prepare_images_plain(const at::Tensor& images_NHWC, const at::Tensor& flip,
                          const ImageNormalization& normalization, const at::Tensor& out_NCHW) {
  at::Tensor pixels = images_NHWC;
  if (flip.defined()) {
    pixels = at::where(flip.ne(0).view({-1, 1, 1, 1}), pixels.flip(2), pixels);
  }
  const at::ScalarType type = out_NCHW.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  at::Tensor values = pixels.to(type).div_(255);
  values.sub_(per_channel(normalization.mean, values));
  values.div_(per_channel(normalization.stddev, values));
  out_NCHW.copy_(values.permute({0, 3, 1, 2}));
}

void prepare_images(const at::Tensor& images_NHWC, const at::Tensor& flip,
                    const ImageNormalization& normalization, const at::Tensor& out_NCHW) {
  if (!picture_kernels_take(out_NCHW)) {
    prepare_images_plain(images_NHWC, flip, normalization, out_NCHW);
    return;
  }
  cuda::ImagePrepare job;
  job.images = images_NHWC.const_data_ptr<std::uint8_t>();
  job.flip = flip.defined() ? flip.const_data_ptr<std::uint8_t>() : nullptr;
  job.to = picture_output(out_NCHW, normalization);
  cuda::prepare_images(job, element_of(out_NCHW.scalar_type()),
                       c10::cuda::getCurrentCUDAStream(out_NCHW.device().index()));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

}  // namespace falcon::ops
