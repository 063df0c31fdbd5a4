#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "ops/cuda/picture_kernels.h"

namespace falcon::ops::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kPixels = static_cast<int>(kPixelsAtOnce);

template <class Out>
__device__ Out rounded(float value);
template <>
__device__ float rounded(float value) {
  return value;
}
template <>
__device__ __half rounded(float value) {
  return __float2half_rn(value);
}
template <>
__device__ __nv_bfloat16 rounded(float value) {
  return __float2bfloat16_rn(value);
}

/// 4 pixels of 3 channels: as they are read, and as they are written.
struct alignas(4) PixelBytes {
  std::uint8_t value[kPixels][3];
};
template <class Out>
struct alignas(4 * sizeof(Out)) FourValues {
  Out value[4];
};

/// A thread makes 4 neighbouring pixels of a row of the output.
struct Place {
  __device__ explicit Place(const PictureOutput& to)
      : group(blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x),
        groups_per_row(to.width / kPixels),
        row(group / groups_per_row),
        in_row(group % groups_per_row),
        picture(row / to.height),
        y(row % to.height) {}
  std::int64_t group, groups_per_row;
  std::int64_t row;  // over all pictures
  std::int64_t in_row, picture, y;
};

template <class Out>
__device__ void write_pixels(const PictureOutput& to, const Place& place, const PixelBytes& bytes) {
  Out values[kPixels][3];
  for (int p = 0; p < kPixels; ++p) {
    for (int c = 0; c < 3; ++c) {
      const float unit = __fdiv_rn(static_cast<float>(bytes.value[p][c]), 255.0F);
      values[p][c] = rounded<Out>(__fdiv_rn(unit - to.mean[c], to.stddev[c]));
    }
  }
  Out* out = static_cast<Out*>(to.out);
  if (to.channels_last) {
    auto* vectors = reinterpret_cast<FourValues<Out>*>(out) + place.group * 3;
    const Out* flat = &values[0][0];
    for (int v = 0; v < 3; ++v) {
      vectors[v] = {flat[4 * v], flat[4 * v + 1], flat[4 * v + 2], flat[4 * v + 3]};
    }
    return;
  }
  const std::int64_t plane = to.height * to.width;
  const std::int64_t inside = place.y * to.width + place.in_row * kPixels;
  for (int c = 0; c < 3; ++c) {
    *reinterpret_cast<FourValues<Out>*>(out + (place.picture * 3 + c) * plane + inside) = {
        values[0][c], values[1][c], values[2][c], values[3][c]};
  }
}

template <class Out>
__global__ void prepare_kernel(ImagePrepare job, std::int64_t groups) {
  const Place place(job.to);
  if (place.group >= groups) return;
  const bool mirrored = job.flip != nullptr && job.flip[place.picture] != 0;
  const std::int64_t source = mirrored ? place.groups_per_row - 1 - place.in_row : place.in_row;
  const PixelBytes bytes =
      reinterpret_cast<const PixelBytes*>(job.images)[place.row * place.groups_per_row + source];
  PixelBytes turned;
  for (int p = 0; p < kPixels; ++p) {
    for (int c = 0; c < 3; ++c) {
      turned.value[p][c] = bytes.value[mirrored ? kPixels - 1 - p : p][c];
    }
  }
  write_pixels<Out>(job.to, place, turned);
}

/// The two source pixels of an axis and their weights.
struct Neighbours {
  __device__ explicit Neighbours(std::int32_t number)
      : first(number / data::kPlaceFactor),
        second_weight(number % data::kPlaceFactor),
        first_weight(data::kWeightOne - second_weight),
        second(first + (second_weight > 0 ? 1 : 0)) {}
  int first, second_weight, first_weight, second;
};

/// One channel of a pixel: the arithmetic of data/bilinear.cpp.
__device__ int blend(const std::uint8_t* above, const std::uint8_t* below, const Neighbours& column,
                     const Neighbours& line) {
  const auto along = [&column](const std::uint8_t* row) {
    return (row[3 * column.first] * column.first_weight +
            row[3 * column.second] * column.second_weight) >>
           4;
  };
  const int quarters =
      (along(above) * line.first_weight >> 16) + (along(below) * line.second_weight >> 16);
  return (quarters + 2) >> 2;
}

template <class Out>
__global__ void draw_kernel(TileDraw job, std::int64_t groups) {
  const Place place(job.to);
  if (place.group >= groups) return;
  const std::int64_t side = job.to.width;
  const std::uint8_t* source = job.pixels + 3 * place.picture * job.sample_pixels;
  int levels[kPixels][3];
  for (int p = 0; p < kPixels; ++p) {
    for (int c = 0; c < 3; ++c) levels[p][c] = job.padding;
  }
  for (int t = 0; t < data::kTiles; ++t) {
    const std::int64_t at = place.picture * data::kTiles + t;
    const data::TileRecord tile = job.tiles[at];
    const std::int32_t* columns = job.axes + 2 * side * at;
    const int y = static_cast<int>(place.y) - tile.top;
    if (y < 0 || y >= tile.lines) continue;
    const Neighbours line(columns[side + y]);
    const std::uint8_t* pixels = source + 3 * static_cast<std::int64_t>(tile.first_pixel);
    const std::uint8_t* above =
        pixels + 3 * static_cast<std::int64_t>(line.first) * tile.row_pixels;
    const std::uint8_t* below =
        pixels + 3 * static_cast<std::int64_t>(line.second) * tile.row_pixels;
    for (int p = 0; p < kPixels; ++p) {
      const int x = static_cast<int>(place.in_row) * kPixels + p - tile.left;
      if (x < 0 || x >= tile.columns) continue;
      const Neighbours column(columns[x]);
      for (int c = 0; c < 3; ++c) levels[p][c] = blend(above + c, below + c, column, line);
    }
  }
  const data::HsvGains gains = job.gains[place.picture];
  PixelBytes bytes;
  for (int p = 0; p < kPixels; ++p) {
    const data::PixelLevels shifted =
        data::shift_hsv(gains, static_cast<float>(levels[p][0]), static_cast<float>(levels[p][1]),
                        static_cast<float>(levels[p][2]));
    bytes.value[p][0] = static_cast<std::uint8_t>(static_cast<int>(shifted.red));
    bytes.value[p][1] = static_cast<std::uint8_t>(static_cast<int>(shifted.green));
    bytes.value[p][2] = static_cast<std::uint8_t>(static_cast<int>(shifted.blue));
  }
  write_pixels<Out>(job.to, place, bytes);
}

/// Calls with the type, the number of threads that are needed and that of the blocks.
template <class Launch>
void for_element(const PictureOutput& to, Element element, const Launch& launch) {
  const std::int64_t groups = to.count * to.height * to.width / kPixels;
  const auto blocks = static_cast<unsigned>((groups + kThreads - 1) / kThreads);
  if (blocks == 0) return;
  switch (element) {
    case Element::kFloat:
      return launch(float(), groups, blocks);
    case Element::kHalf:
      return launch(__half(), groups, blocks);
    case Element::kBfloat16:
      return launch(__nv_bfloat16(), groups, blocks);
  }
}

}  // namespace

void prepare_images(const ImagePrepare& job, Element element, CUstream_st* stream) {
  for_element(job.to, element, [&](auto out, std::int64_t groups, unsigned blocks) {
    prepare_kernel<decltype(out)><<<blocks, kThreads, 0, stream>>>(job, groups);
  });
}

void draw_tiles(const TileDraw& job, Element element, CUstream_st* stream) {
  for_element(job.to, element, [&](auto out, std::int64_t groups, unsigned blocks) {
    draw_kernel<decltype(out)><<<blocks, kThreads, 0, stream>>>(job, groups);
  });
}

}  // namespace falcon::ops::cuda
