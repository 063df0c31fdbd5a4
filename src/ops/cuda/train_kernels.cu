#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "ops/cuda/train_kernels.h"

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

/// One thread, 4 neighbouring pixels of the output.
template <class Out>
__global__ void prepare_kernel(ImagePrepare job, std::int64_t groups) {
  const std::int64_t group = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (group >= groups) return;
  const std::int64_t groups_per_row = job.width / kPixels;
  const std::int64_t row = group / groups_per_row;  // over all pictures
  const std::int64_t place = group % groups_per_row;
  const std::int64_t picture = row / job.height;
  const bool mirrored = job.flip != nullptr && job.flip[picture] != 0;
  const std::int64_t source = mirrored ? groups_per_row - 1 - place : place;
  const PixelBytes bytes =
      reinterpret_cast<const PixelBytes*>(job.images)[row * groups_per_row + source];
  Out values[kPixels][3];
  for (int p = 0; p < kPixels; ++p) {
    for (int c = 0; c < 3; ++c) {
      const int from = mirrored ? kPixels - 1 - p : p;
      const float unit = __fdiv_rn(static_cast<float>(bytes.value[from][c]), 255.0F);
      values[p][c] = rounded<Out>(__fdiv_rn(unit - job.mean[c], job.stddev[c]));
    }
  }
  Out* out = static_cast<Out*>(job.out);
  if (job.channels_last) {
    auto* vectors = reinterpret_cast<FourValues<Out>*>(out) + group * 3;
    const Out* flat = &values[0][0];
    for (int v = 0; v < 3; ++v) {
      vectors[v] = {flat[4 * v], flat[4 * v + 1], flat[4 * v + 2], flat[4 * v + 3]};
    }
    return;
  }
  const std::int64_t plane = job.height * job.width;
  const std::int64_t inside = (row % job.height) * job.width + place * kPixels;
  for (int c = 0; c < 3; ++c) {
    *reinterpret_cast<FourValues<Out>*>(out + (picture * 3 + c) * plane + inside) = {
        values[0][c], values[1][c], values[2][c], values[3][c]};
  }
}

template <class Out>
void prepare(const ImagePrepare& job, CUstream_st* stream) {
  const std::int64_t groups = job.count * job.height * job.width / kPixels;
  const auto blocks = static_cast<unsigned>((groups + kThreads - 1) / kThreads);
  if (blocks > 0) prepare_kernel<Out><<<blocks, kThreads, 0, stream>>>(job, groups);
}

__global__ void advance_kernel(StepAdvance job) {
  const bool was_skipped = job.found_inf != nullptr && *job.found_inf != 0;
  count_step(*job.counters, was_skipped);
  StepReport report;
  report.step = job.counters->steps;
  report.loss = *job.loss;
  report.lr = job.row->lr;
  report.loss_scale = job.loss_scale != nullptr ? *job.loss_scale : 0;
  report.skipped = job.counters->skipped;
  job.ring[(report.step - 1) % job.ring_size] = report;
  const RateRow next = row_of(job.table, job.counters->updates);
  *job.row = {static_cast<float>(next.lr), static_cast<float>(next.bias_lr),
              static_cast<float>(next.momentum)};
  __threadfence_system();
  *static_cast<volatile std::int64_t*>(job.progress) = report.step;
}

}  // namespace

void prepare_images(const ImagePrepare& job, Element element, CUstream_st* stream) {
  switch (element) {
    case Element::kFloat:
      return prepare<float>(job, stream);
    case Element::kHalf:
      return prepare<__half>(job, stream);
    case Element::kBfloat16:
      return prepare<__nv_bfloat16>(job, stream);
  }
}

void advance_step(const StepAdvance& job, CUstream_st* stream) {
  advance_kernel<<<1, 1, 0, stream>>>(job);
}

bool has_train_kernels() {
  return true;
}

}  // namespace falcon::ops::cuda
