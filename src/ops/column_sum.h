// Sums over the rows of a matrix, as the gradients of biases are.
#pragma once
#include <ATen/core/Tensor.h>

namespace falcon::ops {

/// x [R, C] contiguous: [C] in this type, float32 or that of x; 16-bit elements are added up in
/// float32. On a GPU one kernel where x is of 16 bit and C a multiple of 8.
at::Tensor column_sum(const at::Tensor& x, at::ScalarType type);

}  // namespace falcon::ops
