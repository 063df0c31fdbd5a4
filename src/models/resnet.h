// ResNet (He et al. 2015, https://arxiv.org/abs/1512.03385) with bottleneck blocks; version 1.5:
// the stride of a block is on its 3x3 convolution. Names as in torchvision's state_dict.
#pragma once
#include <memory>

#include <falconbench/model.h>

namespace falcon::models {

/// 50 layers, 25.6 million parameters with 1000 classes and width 1. Taps: conv1, bn1, maxpool,
/// layerL.B, avgpool, fc. Throws Error(kUsage) when options ask for dropout (it has none) or fewer
/// than one class.
std::unique_ptr<Model> make_resnet50(const ModelOptions& options);

}  // namespace falcon::models
