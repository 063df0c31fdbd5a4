// The element types of the kernels.
#pragma once

namespace falcon::ops::cuda {

enum class Element { kFloat, kHalf, kBfloat16 };

}  // namespace falcon::ops::cuda
