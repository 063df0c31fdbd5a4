// Fused batch normalisation, residual and activation for NHWC tensors on a GPU, as raw pointers (no
// Torch headers: they would be parsed once for every architecture). Two passes forward, two
// backward:
//   forward 1   statistics                 reads x
//   forward 2   normalise, add, activate   reads x, residual; writes y
//   backward 1  sums of the gradient       reads dy, x, y (with a residual); writes the residual's
//   gradient backward 2  gradient of x              reads dy (or the residual's gradient), x;
//   writes dx
// A residual that is added after the activation (kSilu) has dy as its gradient: the backward passes
// are then those without a residual.
// A tensor is rows x channels: rows = N * H * W, channels fastest. Statistics and sums are float32,
// in a fixed order: the same input gives the same bits.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ops/cuda/element.h"

struct CUstream_st;

namespace falcon::ops::cuda {

enum class Act { kNone, kRelu, kRelu6, kSilu };  // kSilu: the residual is added after it

/// How the work is cut; the same for all four passes of a layer.
struct NormGrid {
  int vectors = 0;  // 16-byte vectors of channels in a tile
  int tiles = 0;    // tiles of channels
  int lanes = 0;    // rows of a tile that one block holds at once
  int splits = 0;   // blocks that share the rows of a tile
  bool supported = false;
};
/// supported: channels fill 16-byte vectors, and rows and channels are within what the grid can
/// cut.
NormGrid norm_grid(std::int64_t rows, std::int64_t channels, Element element, int multiprocessors);
/// float32 scratch for one pass (uninitialised).
std::size_t norm_scratch_floats(const NormGrid& grid, std::int64_t channels);

struct NormForward {
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  const void* x = nullptr;
  const void* residual = nullptr;  // or nullptr
  void* y = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;
  float* running_mean = nullptr;  // or nullptr
  float* running_var = nullptr;
  float* mean = nullptr;         // [channels], out: for the backward pass
  float* inverse_std = nullptr;  // [channels], out
  float* scratch = nullptr;      // norm_scratch_floats
  unsigned* tickets = nullptr;   // [tiles], zero; zero again afterwards
  float momentum = 0;
  float eps = 0;
  Act act = Act::kNone;
};
void norm_act_forward(const NormForward& job, const NormGrid& grid, Element element,
                      CUstream_st* stream);

struct NormBackward {
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  const void* dy = nullptr;
  const void* x = nullptr;
  const void* y = nullptr;    // the forward result; read only with a residual
  void* dresidual = nullptr;  // out; nullptr: there was no residual before the activation
  void* dx = nullptr;         // out
  const float* weight = nullptr;
  const float* bias = nullptr;
  const float* mean = nullptr;
  const float* inverse_std = nullptr;
  float* dweight = nullptr;  // [channels], out
  float* dbias = nullptr;    // [channels], out
  float* scratch = nullptr;
  unsigned* tickets = nullptr;
  Act act = Act::kNone;
};
void norm_act_backward(const NormBackward& job, const NormGrid& grid, Element element,
                       CUstream_st* stream);

}  // namespace falcon::ops::cuda
