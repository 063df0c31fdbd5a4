#include "ops/draw_tiles.h"

#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include "data/tiles.h"
#include "ops/element.h"
#include "ops/image_prepare.h"
#include "ops/picture_output.h"

namespace falcon::ops {
namespace {

// The first of what a sample has in a tensor.
template <class Element>
Element* of_sample(const at::Tensor& tensor, std::int64_t sample) {
  return static_cast<Element*>(tensor.select(0, sample).data_ptr());
}

}  // namespace

void draw_tiles_plain(const TileBatch& batch, const ImageNormalization& normalization,
                      const at::Tensor& out_NCHW) {
  const at::Tensor pixels = batch.pixels.cpu();
  const at::Tensor tiles = batch.tiles.cpu();
  const at::Tensor axes = batch.axes.cpu();
  const at::Tensor gains = batch.gains.cpu();
  const std::int64_t side = axes.size(3);
  const at::Tensor images = at::empty({pixels.size(0), side, side, 3}, at::kByte);
  for (std::int64_t n = 0; n < images.size(0); ++n) {
    const data::TileTensors sample{
        of_sample<std::uint8_t>(pixels, n), of_sample<data::TileRecord>(tiles, n),
        of_sample<std::int32_t>(axes, n), of_sample<data::HsvGains>(gains, n)};
    data::draw_tiles(sample, static_cast<int>(side), of_sample<std::uint8_t>(images, n));
  }
  prepare_images_plain(images.to(out_NCHW.device()), {}, normalization, out_NCHW);
}

void draw_tiles(const TileBatch& batch, const ImageNormalization& normalization,
                const at::Tensor& out_NCHW) {
  if (!picture_kernels_take(out_NCHW)) {
    draw_tiles_plain(batch, normalization, out_NCHW);
    return;
  }
  cuda::TileDraw job;
  job.pixels = batch.pixels.const_data_ptr<std::uint8_t>();
  job.tiles = static_cast<const data::TileRecord*>(batch.tiles.const_data_ptr());
  job.axes = batch.axes.const_data_ptr<std::int32_t>();
  job.gains = static_cast<const data::HsvGains*>(batch.gains.const_data_ptr());
  job.sample_pixels = batch.pixels.size(1);
  job.padding = data::kPaddingLevel;
  job.to = picture_output(out_NCHW, normalization);
  cuda::draw_tiles(job, element_of(out_NCHW.scalar_type()),
                   c10::cuda::getCurrentCUDAStream(out_NCHW.device().index()));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

}  // namespace falcon::ops
