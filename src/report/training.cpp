#include "report/training.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "measure/statistics.h"
#include "measure/window.h"
#include "report/input.h"
#include "report/learning.h"
#include "report/loss.h"
#include "report/model_figures.h"
#include "report/phases.h"

namespace falcon::report {
namespace {

std::int64_t samples_of(const Evidence& evidence) {
  std::int64_t samples = 0;
  for (const WorkerRecords* rank : evidence.records) {
    samples += rank->measured_steps * evidence.plan.batch_per_rank;
  }
  return samples;
}

std::size_t num_devices(const Plan& plan) {
  std::size_t count = 0;
  for (const RankPlan& rank : plan.ranks) count += rank.devices.size();
  return count;
}

Throughput make_throughput(const Evidence& evidence, const Statistics& step) {
  Throughput out;
  out.formula = "samples / measured_s";
  if (!evidence.gap().empty()) {
    out.samples_per_s = out.per_gpu = out.ci95 = evidence.missing<double>();
    return out;
  }
  const double window_s = evidence.measured_s();
  const auto samples = static_cast<double>(samples_of(evidence));
  out.samples_per_s = measure::rate(samples, window_s);
  if (!out.samples_per_s.has_value()) {
    out.per_gpu = out.ci95 = out.samples_per_s;
    return out;
  }
  out.formula += " = " + base::number_text(samples) + " / " + base::number_text(window_s);
  const std::size_t devices = num_devices(evidence.plan);
  out.per_gpu = devices > 0 ? Measured<double>(*out.samples_per_s / static_cast<double>(devices))
                            : Measured<double>::missing("the plan has no device");
  out.ci95 = step.ci95;
  // relative error of a rate = relative error of the time, to first order
  if (step.ci95.has_value()) out.ci95 = *out.samples_per_s * *step.ci95 / *step.mean;
  return out;
}

std::vector<Epoch> make_epochs(const Evidence& evidence) {
  std::vector<Epoch> epochs;
  const auto length =
      static_cast<std::size_t>(std::max<std::int64_t>(evidence.plan.steps_per_epoch, 0));
  if (length == 0) return epochs;
  const std::vector<double>& steps_ms = evidence.steps_ms;
  for (std::size_t begin = 0; begin < steps_ms.size(); begin += length) {
    const std::size_t end = std::min(begin + length, steps_ms.size());
    Epoch epoch;
    epoch.epoch = static_cast<std::int64_t>(begin / length);
    epoch.steps = static_cast<std::int64_t>(end - begin);
    epoch.complete = end - begin == length;
    const auto at = [&steps_ms](std::size_t i) {
      return steps_ms.begin() + static_cast<std::ptrdiff_t>(i);
    };
    epoch.time_s = std::accumulate(at(begin), at(end), 0.0) * 1e-3;
    epoch.samples_per_s =
        measure::rate(static_cast<double>(epoch.steps * evidence.plan.global_batch), epoch.time_s);
    epochs.push_back(epoch);
  }
  return epochs;
}

void add_epoch_time(const Evidence& evidence, Training& out) {
  double time_s = 0;
  std::int64_t complete = 0;
  for (const Epoch& epoch : out.epochs) {
    if (!epoch.complete) continue;
    time_s += epoch.time_s;
    ++complete;
  }
  if (complete > 0) {
    out.time_per_epoch_s = time_s / static_cast<double>(complete);
    out.time_per_epoch_basis = "mean of " + std::to_string(complete) + " measured passes";
    return;
  }
  if (!out.step_time_ms.mean.has_value() || evidence.plan.steps_per_epoch <= 0) {
    out.time_per_epoch_s = Measured<double>::missing(
        evidence.gap().empty() ? "the data has no full batch" : evidence.gap());
    out.time_per_epoch_basis = "none";
    return;
  }
  out.time_per_epoch_s =
      *out.step_time_ms.mean * 1e-3 * static_cast<double>(evidence.plan.steps_per_epoch);
  out.time_per_epoch_basis =
      "mean step x " + std::to_string(evidence.plan.steps_per_epoch) + " steps of a pass";
}

Measured<double> time_to_first_step(const Evidence& evidence) {
  if (evidence.records.size() < evidence.plan.ranks.size() || evidence.records.empty()) {
    return evidence.missing<double>();
  }
  double last_s = 0;
  for (const WorkerRecords* rank : evidence.records) {
    if (rank->loss.empty()) {
      return Measured<double>::missing("rank " + std::to_string(rank->rank) + " finished no step");
    }
    last_s = std::max(last_s, rank->first_step_end_s);
  }
  return last_s - evidence.log.started_s;
}

/// Counts and states at the end, which every rank has alike: the first rank's.
void add_counts(const Evidence& evidence, Training& out) {
  out.global_batch_size = evidence.plan.global_batch;
  if (evidence.records.size() < evidence.plan.ranks.size() || evidence.records.empty()) {
    out.samples = out.steps = out.warmup_steps = out.skipped_optimizer_steps =
        evidence.missing<std::int64_t>();
    out.loss_scale = evidence.missing<double>();
    out.graph = evidence.missing<GraphRecord>();
    return;
  }
  const WorkerRecords& first = *evidence.records.front();
  std::int64_t steps = first.measured_steps;
  for (const WorkerRecords* rank : evidence.records) steps = std::min(steps, rank->measured_steps);
  out.samples = samples_of(evidence);
  out.steps = steps;
  out.warmup_steps = first.warmup_steps;
  out.loss_scale = first.loss_scale;
  out.graph = first.graph;
  out.skipped_optimizer_steps = first.skipped_steps;
}

}  // namespace

Training make_training(const Evidence& evidence, const ModelFacts* model,
                       const PrecisionFacts* precision) {
  Training out;
  add_counts(evidence, out);
  out.step_time_ms = measure::summarize(evidence.steps_ms);
  out.throughput = make_throughput(evidence, out.step_time_ms);
  add_phases(evidence, out);
  out.communication = make_communication(evidence, out.phases_ms);
  out.input = make_input(evidence);
  out.measured_s =
      evidence.gap().empty() ? Measured<double>(evidence.measured_s()) : evidence.missing<double>();
  add_learning(evidence, out);
  out.epochs = make_epochs(evidence);
  add_epoch_time(evidence, out);
  out.loss = make_loss(evidence);
  out.time_to_first_step_s = time_to_first_step(evidence);
  out.model = make_model_figures(evidence, out.throughput, model, precision);
  return out;
}

}  // namespace falcon::report
