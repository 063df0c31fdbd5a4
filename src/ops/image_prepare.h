// What is done to a batch of pictures on the training device: bytes to normalised numbers, mirrored
// where the loader's coin says so.
#pragma once
#include <array>

#include <ATen/core/Tensor.h>

namespace falcon::ops {

/// Per channel, of values in 0 .. 1. The defaults are ImageNet's, as torchvision uses them.
struct ImageNormalization {
  std::array<float, 3> mean = {0.485F, 0.456F, 0.406F};
  std::array<float, 3> stddev = {0.229F, 0.224F, 0.225F};
};

/// out[n, c, h, w] = (images[n, h, v, c] / 255 - mean[c]) / stddev[c], v = W - 1 - w where
/// flip[n] != 0, else w. images_NHWC: uint8, 3 channels, contiguous. flip: uint8 [N], or undefined.
/// out_NCHW: any floating type, contiguous in either layout, written in place. On a GPU one kernel
/// on the current stream; the arithmetic is float32 (float64 for a float64 out).
void prepare_images(const at::Tensor& images_NHWC, const at::Tensor& flip,
                    const ImageNormalization& normalization, const at::Tensor& out_NCHW);

/// The same in plain ATen, on any device: what tests hold the kernel against.
void prepare_images_plain(const at::Tensor& images_NHWC, const at::Tensor& flip,
                          const ImageNormalization& normalization, const at::Tensor& out_NCHW);

}  // namespace falcon::ops
