#include <vector>

#include "falconbench/catalog.h"

namespace falcon::catalog {
namespace {

OptimizerSpec momentum_sgd(double lr, double weight_decay) {
  OptimizerSpec optimizer;
  optimizer.kind = "sgd";
  optimizer.lr = lr;
  optimizer.momentum = 0.9;
  optimizer.weight_decay = weight_decay;
  optimizer.decay = "all";
  optimizer.nesterov = false;
  return optimizer;
}

ScheduleSpec steps_down(std::int64_t step_epochs, double gamma) {
  ScheduleSpec schedule;
  schedule.kind = "step";
  schedule.step_epochs = step_epochs;
  schedule.gamma = gamma;
  schedule.warmup_epochs = 0;
  return schedule;
}

// activation_bytes_per_sample of both models: 4 bytes for each value that a layer-by-layer fp32
// training step keeps for the backward pass, summed over the layers at the default image size. Each
// tensor counts once: the input picture, every convolution's output (kept by its batch norm), every
// activation's output (kept for itself and as the next convolution's input), the max pool's output
// and its 8-byte indices, every block's sum and the logits. ResNet-50: 21,478,376 values,
// MobileNetV2: 13,510,312.

// Recipe: the published training script (batch 256, 90 epochs).
ModelFacts resnet50() {
  ModelFacts facts;
  facts.name = "resnet50";
  facts.title = "ResNet-50 v1.5 (He et al. 2015), image classification, 25.6 million parameters";
  facts.task = "classification";
  facts.parameters = 25557032;
  facts.parameters_per_class = 2048 + 1;
  facts.forward_flops_per_sample = 8178368512;
  facts.image_size = 224;
  facts.classes = 1000;
  facts.batch_per_gpu = 128;
  facts.activation_bytes_per_sample = 4.0 * 21478376;
  facts.options = {"classes"};
  facts.datasets = {"imagefolder", "synthetic"};
  facts.optimizer = momentum_sgd(0.1, 1e-4);
  facts.schedule = steps_down(30, 0.1);
  return facts;
}

// Recipe: the published training script (300 epochs, the rate drops by 2 % each epoch).
ModelFacts mobilenet_v2() {
  ModelFacts facts;
  facts.name = "mobilenet_v2";
  facts.title =
      "MobileNetV2 1.0 (Sandler et al. 2018), image classification, 3.5 million parameters";
  facts.task = "classification";
  facts.parameters = 3504872;
  facts.parameters_per_class = 1280 + 1;
  facts.forward_flops_per_sample = 601548544;
  facts.image_size = 224;
  facts.classes = 1000;
  facts.batch_per_gpu = 64;
  facts.activation_bytes_per_sample = 4.0 * 13510312;
  facts.options = {"classes", "dropout"};
  facts.datasets = {"imagefolder", "synthetic"};
  facts.optimizer = momentum_sgd(0.045, 4e-5);
  facts.schedule = steps_down(1, 0.98);
  return facts;
}

}  // namespace

std::span<const ModelFacts> models() {
  static const std::vector<ModelFacts> table = {resnet50(), mobilenet_v2()};
  return table;
}

}  // namespace falcon::catalog
