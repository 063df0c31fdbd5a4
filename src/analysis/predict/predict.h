// What a measured run would take on other links and with other numbers of GPUs: its step is
// simulated again, with the gradient buckets summed behind the backward pass. Pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/predict/fabric.h"
#include "falconbench/fields.h"
#include "falconbench/measured.h"
#include "falconbench/report.h"

namespace falcon::analysis {

/// A run's step, as far as it does not depend on links.
struct StepModel {
  std::string model;
  int ranks = 1;
  double samples_per_rank = 0;
  double step_ms = 0, relative_ci95 = 0;
  double backward_ms = 0;                // time in which the exchange can hide
  double backward_error_ms = 0;          // how far from it the pass may be
  double exposed_ms = 0;                 // exchange that was not hidden
  Measured<double> busy_ms;              // exchange in all
  std::vector<double> bucket_bytes;      // in the order of their exchange
  Measured<double> input_samples_per_s;  // what the loader could deliver
  std::vector<std::string> assumptions;
};

/// Bucket sizes follow from bytes, calls and spec.parallelism.ddp; of a run that exchanged nothing
/// (one rank, or engine.allreduce off) from the number of parameters. A step without phases
/// (captured whole) counts two thirds of it as backward pass, as 3 x forward is the rule for FLOPs.
/// Where the exchange was under way all through the backward pass, the pass itself is estimated.
/// Throws Error(kUsage) naming what the report lacks.
StepModel step_model(const Report& report);

struct Target {
  Fabric fabric;
  std::vector<Level> levels;  // from hosts up; empty: all in one host
  int devices = 2;
  double compute_scale = 1;  // time of computation there / here
};

struct Prediction {
  std::string model, fabric, fabric_source, links_basis;
  int devices = 0;
  double step_ms = 0, step_low_ms = 0, step_high_ms = 0;
  double samples_per_s = 0;
  double compute_ms = 0, communication_ms = 0, exposed_ms = 0;
  double measured_step_ms = 0, time_ratio = 0;
  std::string bottleneck;
  std::vector<std::string> assumptions;
};
template <class V>
void visit_fields(Prediction& p, V& v) {
  v.field("model", p.model, "model");
  v.field("fabric", p.fabric, "set of GPUs that it is predicted for");
  v.field("fabric_source", p.fabric_source, "where the speed of its links comes from");
  v.field(
      "links_basis", p.links_basis,
      "measured (falconbench links), declared (system file), usual (some as such links are seen "
      "elsewhere) or given (command line)");
  v.field("devices", p.devices, "number of GPUs");
  v.field("step_ms", p.step_ms, "predicted time of a step");
  v.field("step_low_ms", p.step_low_ms, "lower end of the error band");
  v.field("step_high_ms", p.step_high_ms, "upper end of the error band");
  v.field("samples_per_s", p.samples_per_s, "all devices, same batch a device as measured");
  v.field("compute_ms", p.compute_ms, "of the step, everything but exposed communication");
  v.field("communication_ms", p.communication_ms, "exchange in all, hidden or not");
  v.field("exposed_ms", p.exposed_ms, "exchange that computation does not hide");
  v.field("measured_step_ms", p.measured_step_ms, "of the run that this rests on");
  v.field("time_ratio", p.time_ratio, "time a sample and device here / in that run");
  v.field("bottleneck", p.bottleneck,
          "communication (and over which links), computation or input, with the figures");
  v.field("assumptions", p.assumptions, "what was assumed");
}

/// measured_on: the links that the run used, where known: its exchange time then tells how much
/// longer a call takes beside computation than alone, and its exposed time when gradients become
/// ready. The band covers the spread of the links and of the run, that readiness, an estimated
/// backward pass, and whether what a call takes longer is hidden by slower links, stays, or grows
/// with its time.
Prediction predict(const StepModel& model, const std::optional<Fabric>& measured_on,
                   const Target& target);

/// How the exchange overlaps with the backward pass: gradients of the first share f of the bytes
/// are ready at backward_ms * f^shape. Bucket k starts when it is ready and the one before is
/// through. Returns the time after the end of the backward pass.
double exposed_after_backward_ms(const std::vector<double>& bucket_bytes,
                                 const std::vector<double>& bucket_ms, double backward_ms,
                                 double shape);

}  // namespace falcon::analysis
