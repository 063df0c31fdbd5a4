// In place of the kernels that are called where tensors are on a GPU, in a build without a CUDA
// compiler.
#include <falconbench/errors.h>

#include "ops/cuda/column_sum_kernels.h"
#include "ops/cuda/picture_kernels.h"
#include "ops/cuda/square_sum_kernels.h"
#include "ops/cuda/train_kernels.h"
#include "ops/cuda/update_kernels.h"

namespace falcon::ops::cuda {
namespace {

[[noreturn]] void refuse() {
  throw Error(ExitCode::kHost,
              "this build has no GPU kernels: it was configured without a CUDA compiler (nvcc)");
}

}  // namespace

void prepare_images(const ImagePrepare&, Element, CUstream_st*) {
  refuse();
}
void draw_tiles(const TileDraw&, Element, CUstream_st*) {
  refuse();
}
void advance_step(const StepAdvance&, CUstream_st*) {
  refuse();
}
CUgraphNode_st* add_fill(CUgraph_st*, std::uint32_t*, std::size_t, std::uint32_t) {
  refuse();
}
void momentum_update(const UpdateTensors&, const UpdateTypes&, const MomentumRates&, CUstream_st*) {
  refuse();
}
void adamw_update(const UpdateTensors&, const UpdateTypes&, const AdamWRates&, CUstream_st*) {
  refuse();
}
bool column_sum_supported(std::int64_t) {
  return false;
}
void column_sum(const ColumnSum&, Element, CUstream_st*) {
  refuse();
}
void square_sums(const SquaredTensors&, Element, float*, CUstream_st*) {
  refuse();
}
bool has_train_kernels() {
  return false;
}

}  // namespace falcon::ops::cuda
