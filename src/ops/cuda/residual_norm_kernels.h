// Fused dropout, residual addition and layer normalisation on a GPU, as raw pointers (no Torch
// headers: they would be parsed once for every architecture). Rows of `width` elements; statistics
// and sums are float32, in a fixed order: the same input gives the same bits.
#pragma once
#include <cstdint>

#include "ops/cuda/element.h"

struct CUstream_st;

namespace falcon::ops::cuda {

/// Where a kernel's random numbers come from; in a captured graph the two pointers, read when it is
/// replayed, are in place of seed and offset.
struct RandomState {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
  const std::int64_t* seed_pointer = nullptr;
  const std::int64_t* offset_pointer = nullptr;  // its value is added to offset
};

/// sum = residual + dropout(x); y = weight * (sum - mean) / sqrt(var + eps) + bias
struct ResidualNormForward {
  std::int64_t rows = 0;
  std::int64_t width = 0;
  const void* x = nullptr;
  const void* residual = nullptr;
  void* sum = nullptr;
  void* y = nullptr;
  std::uint8_t* mask = nullptr;  // [rows, width / 8], a bit for each element that is kept; nullptr:
                                 // nothing is dropped
  const float* weight = nullptr;
  const float* bias = nullptr;
  float* mean = nullptr;  // [rows]
  float* inverse_std = nullptr;
  float eps = 0;
  float dropout = 0;  // probability, in steps of 2^-16
  RandomState random;
};

struct ResidualNormBackward {
  std::int64_t rows = 0;
  std::int64_t width = 0;
  const void* dy = nullptr;
  const void* sum = nullptr;
  const std::uint8_t* mask = nullptr;  // as forward
  const float* weight = nullptr;
  const float* mean = nullptr;
  const float* inverse_std = nullptr;
  float dropout = 0;
  void* dx = nullptr;  // nullptr without a mask: it is dresidual
  void* dresidual = nullptr;
  float* dweight = nullptr;
  float* dbias = nullptr;
  float* scratch = nullptr;  // [residual_norm_blocks, residual_norm_scratch]
};

/// Whether the kernels take rows of this width.
bool residual_norm_supported(std::int64_t width);
/// Blocks of the backward pass.
int residual_norm_blocks(std::int64_t rows, int multiprocessors);
/// Floats of scratch memory of each of them.
std::int64_t residual_norm_scratch(std::int64_t width);
/// The dropout probability as the kernels have it.
float residual_norm_dropout(double probability);

void residual_norm_forward(const ResidualNormForward& job, Element element, CUstream_st* stream);
void residual_norm_backward(const ResidualNormBackward& job, int blocks, Element element,
                            CUstream_st* stream);

}  // namespace falcon::ops::cuda
