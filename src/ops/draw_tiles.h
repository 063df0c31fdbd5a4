// Training pictures of detection drawn on the training device of what the loader decoded for them:
// resizing, zoom, shift and mirroring, colours, and bytes to normalised numbers.
#pragma once
#include <ATen/core/Tensor.h>

#include <falconbench/model.h>

namespace falcon::ops {

/// A batch of data/tiles.h's samples: contiguous, on one device.
struct TileBatch {
  at::Tensor pixels;  // uint8 [N, P, 3]
  at::Tensor tiles;   // int32 [N, 4, 6]
  at::Tensor axes;    // int32 [N, 4, 2, S]
  at::Tensor gains;   // float32 [N, 3]
};

/// The pictures, as data::draw_tiles() draws them to the byte, and then as prepare_images()
/// prepares them. out_NCHW: any floating type, [N, 3, S, S] contiguous in either layout, written in
/// place. On a GPU one kernel on the current stream.
void draw_tiles(const TileBatch& batch, const ImageNormalization& normalization,
                const at::Tensor& out_NCHW);

/// The same by data::draw_tiles() on the CPU, for any device: what tests hold the kernel against.
void draw_tiles_plain(const TileBatch& batch, const ImageNormalization& normalization,
                      const at::Tensor& out_NCHW);

}  // namespace falcon::ops
