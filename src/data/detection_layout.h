// The tensors of a detection sample, which every data set of the task gives alike.
#pragma once
#include <cstdint>
#include <vector>

#include "falconbench/dataset.h"

namespace falcon::data {

/// images u8 [S, S, 3] (RGB, NHWC) and targets f32 [M, 5]: class, x, y, width, height in parts of
/// S, class -1 where there is no box. For evaluation also crowd u8 [M]: 1 where the box marks a
/// region of many objects, and content f32 [4]: left, top, right, bottom of the picture proper in
/// parts of S; around it is padding.
std::vector<TensorLayout> detection_layout(std::int64_t image_size, std::int64_t most_targets,
                                           bool evaluation);

}  // namespace falcon::data
