// What is done to a batch of pictures on the training device: bytes to normalised numbers, mirrored
// where the loader's coin says so.
#pragma once
#include <ATen/core/Tensor.h>

#include <falconbench/model.h>

namespace falcon::ops {

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
