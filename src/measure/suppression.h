// Non-maximum suppression of a detector's decoded predictions, as the YOLOv5 reference does it for
// an evaluation (non_max_suppression of utils/general.py, v7.0).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace falcon::measure {

struct SuppressionOptions {
  float least_confidence = 0.001F;  // of the objectness, and of objectness times class
  float most_overlap = 0.6F;        // intersection over union with a better box of the same class
  bool many_labels = true;          // a prediction may give a box for each class, else for its best
  std::size_t most_candidates = 30000;
  std::size_t most_boxes = 300;
};

/// Corners in the unit of the predictions.
struct DetectedBox {
  float left = 0;
  float top = 0;
  float right = 0;
  float bottom = 0;
  float score = 0;
  std::int32_t label = 0;
};

/// predictions: [N, 5 + classes] of one picture: centre x, y, width, height, objectness, one
/// confidence a class. Best first.
std::vector<DetectedBox> suppress(std::span<const float> predictions, std::size_t classes,
                                  const SuppressionOptions& options = {});

}  // namespace falcon::measure
