// From ATen's types to those of the kernels.
#pragma once
#include <c10/core/ScalarType.h>

#include "ops/cuda/element.h"

namespace falcon::ops {

/// REQUIRES: float32, float16 or bfloat16.
inline cuda::Element element_of(at::ScalarType type) {
  if (type == at::kHalf) return cuda::Element::kHalf;
  return type == at::kBFloat16 ? cuda::Element::kBfloat16 : cuda::Element::kFloat;
}

}  // namespace falcon::ops
