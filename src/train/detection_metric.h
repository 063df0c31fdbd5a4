// The metric of object detection.
#pragma once
#include <memory>

#include "train/evaluation.h"

namespace falcon::train {

/// map50 and map50_95: measure/detection_score.h over the boxes that measure/suppression.h keeps of
/// the predictions (outputs[0], [B, N, 5 + classes], pixels of the network's input; batch tensors
/// images, and targets, crowd and content as data/detection_layout.h says). No values when no class
/// has a box that is no crowd.
///
/// Boxes are compared where the network sees them: an overlap is a ratio, so it is the same in the
/// original's pixels, and no size of a box has a say in the score over all areas. As the reference
/// does it, predictions are cut at the picture's edges after the suppression.
std::unique_ptr<Metric> make_detection_metric();

}  // namespace falcon::train
