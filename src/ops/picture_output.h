// The output of the picture kernels, from a tensor.
#pragma once
#include <ATen/core/Tensor.h>

#include <falconbench/model.h>

#include "ops/cuda/picture_kernels.h"
#include "ops/cuda/train_kernels.h"

namespace falcon::ops {

/// Whether the kernels can write it; otherwise plain ATen does. out_NCHW: [N, 3, H, W].
inline bool picture_kernels_take(const at::Tensor& out_NCHW) {
  return out_NCHW.is_cuda() && cuda::has_train_kernels() && out_NCHW.scalar_type() != at::kDouble &&
         out_NCHW.size(3) % cuda::kPixelsAtOnce == 0;
}

inline cuda::PictureOutput picture_output(const at::Tensor& out_NCHW,
                                          const ImageNormalization& normalization) {
  cuda::PictureOutput to;
  to.out = out_NCHW.mutable_data_ptr();
  to.count = out_NCHW.size(0);
  to.height = out_NCHW.size(2);
  to.width = out_NCHW.size(3);
  to.channels_last = out_NCHW.is_contiguous(at::MemoryFormat::ChannelsLast);
  for (std::size_t c = 0; c < 3; ++c) {
    to.mean[c] = normalization.mean[c];
    to.stddev[c] = normalization.stddev[c];
  }
  return to;
}

}  // namespace falcon::ops
