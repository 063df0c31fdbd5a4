#include "data/detection_layout.h"

namespace falcon::data {

std::vector<TensorLayout> detection_layout(std::int64_t image_size, std::int64_t most_targets,
                                           bool evaluation) {
  std::vector<TensorLayout> tensors = {
      {"images", ElementType::kUint8, {image_size, image_size, 3}},
      {"targets", ElementType::kFloat32, {most_targets, 5}},
  };
  if (evaluation) {
    tensors.push_back({"crowd", ElementType::kUint8, {most_targets}});
    tensors.push_back({"content", ElementType::kFloat32, {4}});
  }
  return tensors;
}

}  // namespace falcon::data
