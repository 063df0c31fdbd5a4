// The kernel of ops/column_sum.h, as raw pointers.
#pragma once
#include <cstdint>

#include "ops/cuda/element.h"

struct CUstream_st;

namespace falcon::ops::cuda {

/// sums[c] = sum over r of x[r, c], added up in float32 in a fixed order: the same input gives the
/// same bits.
struct ColumnSum {
  std::int64_t rows = 0;
  std::int64_t width = 0;
  const void* x = nullptr;  // [rows, width], 16-bit
  void* sums = nullptr;     // [width], float32 or of the type of x
  bool wide_sums = true;
};

/// Whether rows of this width are taken.
bool column_sum_supported(std::int64_t width);
/// REQUIRES: x aligned to 16 bytes.
void column_sum(const ColumnSum& job, Element element, CUstream_st* stream);

}  // namespace falcon::ops::cuda
