// MobileNetV2 (Sandler et al. 2018, https://arxiv.org/abs/1801.04381). Names as in
// torchvision's state_dict.
#pragma once
#include <memory>

#include <falconbench/model.h>

namespace falcon::models {

/// 3.5 million parameters with 1000 classes and width 1. Dropout before the classifier is 0.2
/// unless options give another probability. Taps: features.I, classifier.1. Throws Error(kUsage)
/// when options are out of range.
std::unique_ptr<Model> make_mobilenet_v2(const ModelOptions& options);

}  // namespace falcon::models
