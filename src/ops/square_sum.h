// The sum of the squares of all elements of many tensors: a gradient's norm, and whether it is
// finite.
#pragma once
#include <vector>

#include <ATen/core/Tensor.h>

namespace falcon::ops {

/// Lists of dense tensors, each of one type, all on the device of `options`; there may be none. A
/// scalar of the type of `options`: float32 on a GPU, where 16-bit and float32 elements are squared
/// and added up in float32, in a fixed order. Not finite when an element is not.
at::Tensor square_sum(const std::vector<at::TensorList>& lists, const at::TensorOptions& options);

}  // namespace falcon::ops
