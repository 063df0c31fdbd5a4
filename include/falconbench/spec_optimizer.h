// The parts of a run spec about how the weights are updated and how the rates go
// (falconbench/run_spec.h).
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "falconbench/fields.h"

namespace falcon {

/// The value of optimizer.decay that spares biases and norm weights.
inline constexpr const char* kDecayWeightsOnly = "weights";

struct OptimizerSpec {
  std::optional<std::string> kind;
  std::optional<double> lr;
  std::optional<double> momentum;
  std::optional<double> beta1;
  std::optional<double> beta2;
  std::optional<double> eps;
  std::optional<double> weight_decay;
  std::optional<std::string> decay;
  std::optional<bool> nesterov;
  std::optional<double> clip_norm;
  std::optional<double> ema_decay;
};
template <class V>
void visit_fields(OptimizerSpec& s, V& v) {
  v.field("kind", s.kind, "optimizer (default: the model's reference recipe, as all of these)",
          one_of("optimizers"));
  v.field("lr", s.lr, "learning rate at the start of the schedule", at_least(0));
  v.field("momentum", s.momentum, "momentum (sgd)", between(0, 0.9999));
  v.field("beta1", s.beta1, "share of the old mean of the gradients in the new one (adamw)",
          between(0, 0.999999));
  v.field("beta2", s.beta2, "share of the old mean of their squares in the new one (adamw)",
          between(0, 0.999999));
  v.field("eps", s.eps, "added to the root of that mean (adamw)", above(0));
  v.field("weight_decay", s.weight_decay, "weight decay", at_least(0));
  v.field("decay", s.decay,
          "what decays: all parameters, or the weights without biases and norm weights",
          one_of("decays"));
  v.field("nesterov", s.nesterov, "Nesterov momentum");
  v.field("clip_norm", s.clip_norm,
          "clip the gradients' Euclidean norm to this (default: no clipping)", above(0));
  v.field("ema_decay", s.ema_decay,
          "rank 0 keeps a moving average of the weights: of the old one this share times 1 - "
          "exp(-steps / 2000) stays; 0: none",
          between(0, 0.9999999));
}

struct ScheduleSpec {
  std::optional<std::string> kind;
  std::optional<std::int64_t> epochs;
  std::optional<std::int64_t> steps;
  std::optional<std::int64_t> step_epochs;
  std::optional<double> gamma;
  std::optional<double> warmup_epochs;
  std::optional<double> warmup_start;
  std::optional<std::int64_t> warmup_steps;
  std::optional<double> warmup_ratio;
  std::optional<double> warmup_bias_lr;
  std::optional<double> warmup_momentum;
  std::optional<double> end_lr;
};
template <class V>
void visit_fields(ScheduleSpec& s, V& v) {
  v.field("kind", s.kind, "learning-rate schedule", one_of("schedules"));
  v.field("epochs", s.epochs,
          "length of the whole schedule, epochs (cosine, yolov5, yolov5_cosine; linear and "
          "cosine_by_step without steps)",
          between(1, 1000000));
  v.field("steps", s.steps, "length of the whole schedule, steps (linear, cosine_by_step)",
          between(1, 1000000000));
  v.field("step_epochs", s.step_epochs, "epochs between two drops (step)", at_least(1));
  v.field("gamma", s.gamma, "factor of a drop (step)", between(0, 1));
  v.field("warmup_epochs", s.warmup_epochs, "epochs of linear warm-up (schedules by epoch)",
          at_least(0));
  v.field("warmup_start", s.warmup_start, "factor of the learning rate at the start of the warm-up",
          between(0, 1));
  v.field("warmup_steps", s.warmup_steps, "steps of linear warm-up from 0 (linear, cosine_by_step)",
          between(0, 1000000000));
  v.field("warmup_ratio", s.warmup_ratio, "the same as a share of the whole schedule",
          between(0, 1));
  v.field("warmup_bias_lr", s.warmup_bias_lr,
          "learning rate of the biases at the start of the warm-up (yolov5, yolov5_cosine)",
          at_least(0));
  v.field("warmup_momentum", s.warmup_momentum,
          "momentum at the start of the warm-up (yolov5, yolov5_cosine)", between(0, 0.9999));
  v.field("end_lr", s.end_lr, "learning rate at the end (cosine, yolov5, yolov5_cosine)",
          at_least(0));
}

}  // namespace falcon
