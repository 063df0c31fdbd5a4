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

// BERT without its pooler and with two outputs a token, from the architecture: h = hidden size, 4 h
// between the two products of a layer, s tokens. Parameters: 30522 + 512 + 2 embeddings, their
// norm, a layer's 12 h^2 weights and 13 h biases and norm weights, the head. FLOPs: matrix products
// only. Activations that a training step keeps, values of 4 bytes a token and layer: the
// projections 3 h, the mixed values h, two sums h before their norms and two results h after, 4 h
// before and after the GELU, 2 bytes of h for two dropout masks; attention weights are not kept.
void size_encoder(ModelFacts& facts) {
  const std::int64_t h = facts.encoder.hidden_size;
  const auto width = static_cast<double>(h);
  const auto layers = static_cast<double>(facts.encoder.layers);
  const auto tokens = static_cast<double>(facts.sequence_length);
  facts.parameters =
      (30522 + 512 + 2) * h + 2 * h + facts.encoder.layers * (12 * h * h + 13 * h) + 2 * h + 2;
  facts.forward_flops_per_sample =
      tokens * (layers * (24 * width * width + 4 * tokens * width) + 4 * width);
  facts.activation_bytes_per_sample = tokens * layers * (4 * 16 + 2) * width;
}

OptimizerSpec bert_adamw() {
  OptimizerSpec optimizer;
  optimizer.kind = "adamw";
  optimizer.lr = 3e-5;
  optimizer.beta1 = 0.9;
  optimizer.beta2 = 0.999;
  optimizer.eps = 1e-8;
  optimizer.weight_decay = 0.01;
  optimizer.decay = kDecayWeightsOnly;
  optimizer.clip_norm = 1.0;
  return optimizer;
}

// Recipe: the paper's fine-tuning (2 epochs of SQuAD v1.1, rate 3e-5, a tenth of it warm-up).
ModelFacts bert(const std::string& name, const EncoderSize& size, std::int64_t batch_per_gpu) {
  ModelFacts facts;
  facts.name = name;
  facts.task = "question_answering";
  facts.sequence_length = 384;
  facts.encoder = size;
  facts.batch_per_gpu = batch_per_gpu;
  facts.options = {"layers", "hidden_size", "heads", "dropout"};
  facts.datasets = {"squad", "synthetic"};
  facts.optimizer = bert_adamw();
  facts.schedule.kind = "linear";
  facts.schedule.epochs = 2;
  facts.schedule.warmup_ratio = 0.1;
  size_encoder(facts);
  return facts;
}

ModelFacts bert_base() {
  ModelFacts facts = bert("bert_base", {12, 768, 12}, 12);
  facts.title = "BERT base (Devlin et al. 2018), question answering, 108.9 million parameters";
  return facts;
}

ModelFacts bert_large() {
  ModelFacts facts = bert("bert_large", {24, 1024, 16}, 6);
  facts.title = "BERT large (Devlin et al. 2018), question answering, 334.1 million parameters";
  return facts;
}

// activation_bytes_per_sample of both image models: 4 bytes for each value that a layer-by-layer
// fp32 training step keeps for the backward pass, summed over the layers at the default image size.
// Each tensor counts once: the input picture, every convolution's output (kept by its batch norm),
// every activation's output (kept for itself and as the next convolution's input), the max pool's
// output and its 8-byte indices, every block's sum and the logits. ResNet-50: 21,478,376 values,
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

/// What differs between the sizes of YOLOv5.
struct YoloSize {
  const char* name;
  const char* millions;
  std::int64_t parameters;
  std::int64_t parameters_per_class;
  double forward_flops;
  double kept_values;  // of a picture, counted as above; of what goes into a concatenation its copy
};

// Recipe: the published training script (v7.0, 300 epochs; hyp.scratch-low for every size).
ModelFacts yolov5(const YoloSize& size) {
  ModelFacts facts;
  facts.name = size.name;
  facts.title = "YOLOv5" + std::string(1, facts.name.back()) +
                " v7.0 (Ultralytics), object detection, " + size.millions + " million parameters";
  facts.task = "detection";
  facts.parameters = size.parameters;
  facts.parameters_per_class = size.parameters_per_class;
  facts.forward_flops_per_sample = size.forward_flops;
  facts.image_size = 640;
  facts.classes = 80;
  facts.batch_per_gpu = 11;
  facts.nominal_batch = 64;
  facts.activation_bytes_per_sample = 4 * size.kept_values;
  facts.options = {"classes"};
  facts.datasets = {"coco", "yolo", "synthetic"};
  facts.optimizer = momentum_sgd(0.01, 5e-4);
  facts.optimizer.momentum = 0.937;
  facts.optimizer.decay = kDecayWeightsOnly;
  facts.optimizer.nesterov = true;
  facts.optimizer.clip_norm = 10;
  facts.optimizer.ema_decay = 0.9999;
  facts.schedule.kind = "yolov5";
  facts.schedule.epochs = 300;
  facts.schedule.end_lr = 1e-4;
  facts.schedule.warmup_epochs = 3;
  facts.schedule.warmup_bias_lr = 0.1;
  facts.schedule.warmup_momentum = 0.8;
  return facts;
}

}  // namespace

std::span<const ModelFacts> models() {
  static const std::vector<ModelFacts> table = {
      resnet50(),
      mobilenet_v2(),
      yolov5({"yolov5n", "1.9", 1872157, 1353, 4468121600, 29175600}),
      yolov5({"yolov5s", "7.2", 7235389, 2697, 16433561600, 54980400}),
      yolov5({"yolov5m", "21.2", 21190557, 4041, 48872448000, 100446000}),
      yolov5({"yolov5l", "46.6", 46563709, 5385, 108993740800, 159018800}),
      yolov5({"yolov5x", "86.7", 86749405, 6729, 205448192000, 230698800}),
      bert_base(),
      bert_large(),
  };
  return table;
}

ModelFacts sized(const ModelFacts& model, const RunSpec& spec) {
  ModelFacts facts = model;
  const ModelOptionsSpec& options = spec.model_options;
  facts.classes = options.classes.value_or(model.classes);
  facts.parameters += (facts.classes - model.classes) * model.parameters_per_class;
  if (model.encoder.layers == 0) return facts;
  facts.encoder = {options.layers.value_or(model.encoder.layers),
                   options.hidden_size.value_or(model.encoder.hidden_size),
                   options.heads.value_or(model.encoder.heads)};
  facts.sequence_length = spec.sequence_length.value_or(model.sequence_length);
  size_encoder(facts);
  return facts;
}

}  // namespace falcon::catalog
