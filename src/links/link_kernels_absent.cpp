// In place of cuda/link_kernels.cu in a build without a CUDA compiler.
#include <falconbench/errors.h>

#include "links/cuda/link_kernels.h"

namespace falcon::links::cuda {
namespace {

[[noreturn]] void refuse() {
  throw Error(ExitCode::kHost,
              "this build has no GPU kernels: it was configured without a CUDA compiler (nvcc)");
}

}  // namespace

void fill_pattern(std::uint64_t*, std::int64_t, std::uint64_t, CUstream_st*) {
  refuse();
}
void count_wrong(const std::uint64_t*, std::int64_t, std::uint64_t, unsigned long long*,
                 CUstream_st*) {
  refuse();
}
void wait_for_gate(const volatile int*, volatile int*, std::int64_t, CUstream_st*) {
  refuse();
}
void copy_by_kernel(void*, const void*, std::int64_t, CUstream_st*) {
  refuse();
}
void follow(const std::uint64_t*, std::int64_t, std::uint64_t*, CUstream_st*) {
  refuse();
}
bool has_link_kernels() {
  return false;
}

}  // namespace falcon::links::cuda
