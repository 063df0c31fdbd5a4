// The `training` section of the report: what the measured steps took and gave. Made by
// report::make(), pure; every figure says in its sentence what it is over.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/measured.h"
#include "falconbench/records_parts.h"
#include "falconbench/records_trace.h"
#include "falconbench/report_learning.h"
#include "falconbench/report_phases.h"
#include "falconbench/statistics.h"

namespace falcon {

struct Throughput {
  Measured<double> samples_per_s, per_gpu, ci95;
  std::string formula;
};
template <class V>
void visit_fields(Throughput& t, V& v) {
  v.field("samples_per_s", t.samples_per_s, "samples of all ranks / measured_s");
  v.field("per_gpu", t.per_gpu, "samples_per_s / number of devices (a CPU worker counts as one)");
  v.field("ci95", t.ci95, "half width of its 95 % interval: that of the mean step, carried over");
  v.field("formula", t.formula, "how it was had, with the numbers");
}

struct Epoch {
  std::int64_t epoch = 0, steps = 0;
  bool complete = false;
  double time_s = 0;
  Measured<double> samples_per_s;
};
template <class V>
void visit_fields(Epoch& e, V& v) {
  v.field("epoch", e.epoch, "pass over the data, counted from the first measured step");
  v.field("steps", e.steps, "measured steps of it");
  v.field("complete", e.complete, "all steps of the pass were measured");
  v.field("time_s", e.time_s, "time of these steps");
  v.field("samples_per_s", e.samples_per_s, "samples of these steps / time_s");
}

struct Loss {
  Measured<double> first, last;
  std::vector<std::optional<double>> series;
  std::int64_t steps_per_point = 1;
  std::optional<std::string> series_reason;
};
template <class V>
void visit_fields(Loss& l, V& v) {
  v.field("first", l.first, "of the first training step, warm-up included; global batch mean");
  v.field("last", l.last, "of the last step");
  v.field("series", l.series,
          "global batch mean of every training step, warm-up included; null: not finite");
  v.field("steps_per_point", l.steps_per_point,
          "neighbouring steps averaged into one point of the series");
  v.field("series_reason", l.series_reason, "why points of the series are null");
}

struct ModelFigures {
  Measured<std::int64_t> parameters;
  Measured<double> flops_per_sample, mfu, peak_flops_per_s;
  std::string peak_source;
};
template <class V>
void visit_fields(ModelFigures& m, V& v) {
  v.field("parameters", m.parameters, "trainable parameters");
  v.field("flops_per_sample", m.flops_per_sample,
          "training FLOPs of a sample: 3 x forward, 1 multiply-add = 2 FLOPs");
  v.field("mfu", m.mfu, "0..1: flops_per_sample x samples_per_s / peak_flops_per_s");
  v.field("peak_flops_per_s", m.peak_flops_per_s, "dense peak of all devices in this precision");
  v.field("peak_source", m.peak_source, "where the peak stands");
}

struct Training {
  Measured<std::int64_t> samples, steps, warmup_steps;
  std::int64_t global_batch_size = 0;
  Throughput throughput;
  Statistics step_time_ms;
  Phases phases_ms;
  std::optional<std::string> phases_reason;
  Communication communication;
  Measured<GraphRecord> graph;
  Measured<TraceFigures> trace;
  Input input;
  Measured<double> energy_j_per_sample;
  Measured<double> measured_s, training_time_s, time_per_epoch_s;
  std::string time_per_epoch_basis;
  std::vector<Epoch> epochs;
  Loss loss;
  Measured<std::map<std::string, double>> accuracy;
  Measured<Evaluation> evaluation;
  Measured<double> loss_scale;
  Measured<std::int64_t> skipped_optimizer_steps;
  Measured<double> time_to_first_step_s;
  std::vector<Checkpoint> checkpoints;
  Measured<WeightsRecord> initial_weights;
  Measured<SavedFile> saved_weights;
  ModelFigures model;
};
template <class V>
void visit_fields(Training& t, V& v) {
  v.field("samples", t.samples, "executed in the measured window, by all ranks");
  v.field("steps", t.steps, "measured steps executed");
  v.field("warmup_steps", t.warmup_steps, "steps executed before them");
  v.field("global_batch_size", t.global_batch_size, "samples of all ranks in one step");
  v.field("throughput", t.throughput, "how fast");
  v.field("step_time_ms", t.step_time_ms,
          "between the ends of neighbouring measured steps; the slowest rank ends a step");
  v.field("phases_ms", t.phases_ms, "where a step's time goes, mean over ranks of each step");
  v.field("phases_reason", t.phases_reason, "why phases are missing or joined into other");
  v.field("communication", t.communication, "gradient exchange");
  v.field("graph", t.graph,
          "the step as a CUDA graph, of the first rank; null: enqueued one by one");
  v.field("trace", t.trace, "traced steps after the measured ones (key trace)");
  v.field("input", t.input, "input pipeline");
  v.field("energy_j_per_sample", t.energy_j_per_sample,
          "energy of all GPUs in the window / samples: boards only, without the host");
  v.field("measured_s", t.measured_s,
          "first rank's begin to last rank's end of the measured steps, without pauses");
  v.field("training_time_s", t.training_time_s,
          "measured_s with evaluation and checkpoints, without set-up and warm-up");
  v.field("time_per_epoch_s", t.time_per_epoch_s, "one pass over the data");
  v.field("time_per_epoch_basis", t.time_per_epoch_basis, "measured, or scaled from the steps");
  v.field("epochs", t.epochs, "measured passes, also the last, partial one");
  v.field("loss", t.loss, "training loss");
  v.field("accuracy", t.accuracy,
          "on the validation samples: measure -> value, 0..1 (top1, top5: share of the samples; "
          "map50, map50_95: mean average precision, mAP@0.5 and mAP@0.5:0.95 of COCO; exact_match, "
          "f1: mean over the questions)");
  v.field("evaluation", t.evaluation, "how the accuracy was had");
  v.field("loss_scale", t.loss_scale, "dynamic loss scale at the end");
  v.field("skipped_optimizer_steps", t.skipped_optimizer_steps,
          "optimizer steps left out by loss scaling, in all steps");
  v.field("time_to_first_step_s", t.time_to_first_step_s,
          "from the start of the run to the end of the first step on the last rank");
  v.field("checkpoints", t.checkpoints, "checkpoints written");
  v.field("initial_weights", t.initial_weights, "the weights at the start");
  v.field("saved_weights", t.saved_weights, "the weights written at the end");
  v.field("model", t.model, "the model and how well it uses the devices");
}

}  // namespace falcon
