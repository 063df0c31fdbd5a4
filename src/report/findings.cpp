#include "report/findings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "measure/statistics.h"
#include "report/figures.h"

namespace falcon::report::rules {
namespace {

// Limits of the rules. Below them an effect is in the noise of a healthy run.
constexpr double kLoaderBoundShare = 0.10;
constexpr std::int64_t kFewSteps = 30;  // below, p95 and p99 rest on one or two values
constexpr double kSlowFirstStep = 2.0;  // times the median
constexpr double kDrift = 0.05;         // second half against first
constexpr double kVariation = 0.20;     // standard deviation over mean
constexpr double kStraggler = 1.05;     // times the fastest rank
constexpr double kSumTolerance = 0.02;

std::string rank_name(int rank) {
  return "rank " + std::to_string(rank);
}

bool has_steps(const Observation& o) {
  return o.report.training.step_time_ms.mean.has_value();
}

double mean_step_ms(const Observation& o) {
  return *o.report.training.step_time_ms.mean;
}

/// Mean of a phase, NaN when it is missing.
double mean_phase_ms(const Measured<Statistics>& phase) {
  if (!phase.has_value() || !phase.value->mean.has_value()) return std::nan("");
  return *phase.value->mean;
}

struct PhaseSum {
  double sum_ms = 0;
  void field(const char*, const Measured<Statistics>& phase, const char*) {
    sum_ms += mean_phase_ms(phase);
  }
};

}  // namespace

Notes data_skipped(const Observation& o) {
  const Input& input = o.report.training.input;
  if (input.skipped_samples + input.skipped_at_scan == 0) return {};
  std::string evidence = std::to_string(input.skipped_at_scan) + " when scanning, " +
                         std::to_string(input.skipped_samples) + " when reading";
  for (const auto& [reason, count] : input.skipped) {
    evidence += ", " + reason + ": " + std::to_string(count);
  }
  return {{"samples of the data set could not be used and were left out", evidence,
           "falconbench data check lists every damaged file"}};
}

Notes loader_bound(const Observation& o) {
  if (!has_steps(o)) return {};
  const double share = mean_phase_ms(o.report.training.phases_ms.data_wait) / mean_step_ms(o);
  if (!(share > kLoaderBoundShare)) return {};
  return {{"training waited for data: the loader sets the pace", percent(share) + " of a step",
           "give data.loader.threads more CPUs, or use smaller pictures or faster storage"}};
}

Notes no_warmup(const Observation& o) {
  const Training& training = o.report.training;
  if (!has_steps(o) || !training.warmup_steps.has_value() || *training.warmup_steps > 0) return {};
  return {{"first-use costs are inside the measured steps", "warmup_steps is 0",
           "set warmup_steps to 20 or more"}};
}

Notes few_steps(const Observation& o) {
  const std::int64_t steps = o.report.training.step_time_ms.count;
  if (steps == 0 || steps >= kFewSteps) return {};
  return {{"too few measured steps for percentiles and intervals",
           std::to_string(steps) + " steps, " + std::to_string(kFewSteps) + " are needed",
           "set budget.steps higher"}};
}

Notes first_step_slow(const Observation& o) {
  const std::vector<double>& steps_ms = o.evidence.steps_ms;
  if (steps_ms.size() < 3) return {};
  const double median = *o.report.training.step_time_ms.p50;
  if (!(steps_ms.front() > kSlowFirstStep * median)) return {};
  return {{"the first measured step was far slower than the others",
           figure(steps_ms.front()) + " ms, median " + figure(median) + " ms",
           "set warmup_steps higher"}};
}

Notes unstable_steps(const Observation& o) {
  const std::span<const double> steps_ms = o.evidence.steps_ms;
  if (std::ssize(steps_ms) < kFewSteps) return {};
  const Statistics first = measure::summarize(steps_ms.first(steps_ms.size() / 2));
  const Statistics second = measure::summarize(steps_ms.subspan(steps_ms.size() / 2));
  // medians: one long step is no drift
  const double drift = *second.p50 / *first.p50 - 1;
  if (std::abs(drift) > kDrift) {
    return {{"step times drifted during the measurement",
             "median of the second half " + percent(drift) + " against the first",
             "use more warmup_steps; look at clocks and temperature"}};
  }
  const double variation = *o.report.training.step_time_ms.stddev / mean_step_ms(o);
  if (!(variation > kVariation)) return {};
  return {{"step times varied widely", "standard deviation " + percent(variation) + " of the mean",
           "look for other load on this machine, or measure longer"}};
}

Notes loss_not_finite(const Observation& o) {
  const Loss& loss = o.report.training.loss;
  const auto lost = std::count(loss.series.begin(), loss.series.end(), std::nullopt);
  if (lost == 0) return {};
  return {{"the training loss became infinite or not a number",
           std::to_string(lost) + " of " + std::to_string(loss.series.size()) +
               " points of the loss series",
           "lower optimizer.lr, or use bf16 or fp32: this is not the training that was asked for"}};
}

Notes loss_scale_skips(const Observation& o) {
  const Measured<std::int64_t>& skipped = o.report.training.skipped_optimizer_steps;
  if (!skipped.has_value() || *skipped == 0) return {};
  return {{"loss scaling left out optimizer steps whose gradients overflowed",
           std::to_string(*skipped) + " of all steps, warm-up included",
           "usual in the first steps of fp16, while the scale is found"}};
}

Notes stragglers(const Observation& o) {
  const RankReport* slowest = nullptr;
  for (const RankReport& rank : o.report.ranks) {
    if (!rank.relative_to_fastest.has_value()) return {};
    if (slowest == nullptr || *rank.relative_to_fastest > *slowest->relative_to_fastest) {
      slowest = &rank;
    }
  }
  if (slowest == nullptr || !(*slowest->relative_to_fastest > kStraggler)) return {};
  return {{rank_name(slowest->rank) + " was slower than the others, which wait for it",
           figure(*slowest->own_step_ms) + " ms a step of its own, " +
               figure(*slowest->relative_to_fastest) + " times the fastest",
           "compare clocks, links and CPU sets of the ranks"}};
}

bool is_exchange_off(const Plan& plan) {
  return plan.ranks.size() > 1 && plan.spec.engine.allreduce == "off";
}

Notes exchange_off(const Observation& o) {
  if (!is_exchange_off(o.evidence.plan)) return {};
  return {{"the ranks did not exchange gradients: each trained a model of its own",
           "engine.allreduce is off",
           "for the time of a step without communication only; the loss is of no use"}};
}

Notes parameters_differ(const Observation& o) {
  if (is_exchange_off(o.evidence.plan)) return {};
  std::map<std::string, std::string> ranks_by_hash;
  for (const RankReport& rank : o.report.ranks) {
    if (!rank.parameter_hash.has_value()) continue;
    std::string& ranks = ranks_by_hash[*rank.parameter_hash];
    ranks += (ranks.empty() ? "" : ",") + std::to_string(rank.rank);
  }
  if (ranks_by_hash.size() < 2) return {};
  std::string evidence;
  for (const auto& [hash, ranks] : ranks_by_hash) {
    evidence += (evidence.empty() ? "" : "; ") + hash.substr(0, 16) + " on rank " + ranks;
  }
  return {{"the ranks ended with different parameters: they did not train one model", evidence,
           "a fault of the exchange or of the hardware; do not use the figures"}};
}

Notes unclean_exit(const Observation& o) {
  if (o.report.run.status != "ok") return {};
  Notes notes;
  for (const WorkerEnd& worker : o.evidence.log.workers) {
    const bool is_clean = worker.ended == "exit code 0" || worker.ended == kDoneWithoutCode;
    if (!worker.ended_by_launcher && is_clean) continue;
    notes.push_back({rank_name(worker.rank) + " had sent its records but did not end cleanly",
                     worker.ended, "the figures are complete; tear-down went wrong"});
  }
  return notes;
}

Notes partial_batch_dropped(const Observation& o) {
  const std::vector<Epoch>& epochs = o.report.training.epochs;
  const bool has_ended =
      std::any_of(epochs.begin(), epochs.end(), [](const Epoch& epoch) { return epoch.complete; });
  if (o.evidence.plan.dropped_per_epoch == 0 || !has_ended) return {};
  return {{"the last, partial batch of each pass over the data was left out",
           std::to_string(o.evidence.plan.dropped_per_epoch) + " of " +
               std::to_string(o.evidence.plan.data.samples) + " samples",
           "choose a batch size that divides the data set to train on all of it"}};
}

Notes phases_do_not_sum(const Observation& o) {
  if (!has_steps(o)) return {};
  PhaseSum phases;
  Phases copy = o.report.training.phases_ms;
  visit_fields(copy, phases);
  const double difference = phases.sum_ms / mean_step_ms(o) - 1;
  if (!(std::abs(difference) > kSumTolerance)) return {};  // also when a phase is missing: NaN
  return {{"the phases do not sum to the step",
           figure(phases.sum_ms) + " ms of phases, " + figure(mean_step_ms(o)) + " ms of step",
           "take the split of the step as rough"}};
}

Notes step_clock_differs(const Observation& o) {
  const Measured<double>& window_s = o.report.training.measured_s;
  if (!window_s.has_value() || o.evidence.steps_ms.empty()) return {};
  const double sum_s =
      std::accumulate(o.evidence.steps_ms.begin(), o.evidence.steps_ms.end(), 0.0) * 1e-3;
  if (std::abs(sum_s / *window_s - 1) <= kSumTolerance) return {};
  return {{"the step times do not sum to the measured window",
           figure(sum_s) + " s of steps in a window of " + figure(*window_s) + " s",
           "a fault of the clocks or of falconbench: do not use the figures"}};
}

Notes cpu_oversubscribed(const Observation& o) {
  int decode = 0, compute = 0;
  for (const RankPlan& rank : o.evidence.plan.ranks) {
    decode += rank.decode_threads;
    compute += rank.compute_threads;
  }
  const int usable = o.report.system.cpu.usable;
  if (std::max(decode, compute) <= usable) return {};
  return {{"the workers have more threads than there are CPUs to use",
           std::to_string(decode) + " decode and " + std::to_string(compute) +
               " compute threads on " + std::to_string(usable) + " CPUs",
           "lower devices or data.loader.threads"}};
}

Notes no_graph(const Observation& o) {
  const std::string& reason = o.report.training.graph.reason;
  if (!reason.starts_with(kCaptureFailed)) return {};
  return {{"the step was not captured as a CUDA graph, but enqueued kernel by kernel", reason,
           "engine.graphs: on makes this an error, off does without"}};
}

Notes weights_missing(const Observation& o) {
  const Measured<WeightsRecord>& weights = o.report.training.initial_weights;
  if (!weights.has_value() || weights.value->missing == 0) return {};
  constexpr std::size_t kShown = 5;
  std::string names;
  for (std::size_t i = 0; i < std::min(kShown, weights.value->missing_names.size()); ++i) {
    names += (i == 0 ? ": " : ", ") + weights.value->missing_names[i];
  }
  const bool is_cut = weights.value->missing > static_cast<std::int64_t>(kShown);
  return {{"the weight file lacks tensors of the model, which keep their start values",
           std::to_string(weights.value->missing) + " of " +
               std::to_string(weights.value->tensors) + names + (is_cut ? ", ..." : ""),
           "usual for a new head on a pretrained network; else use a file of this model"}};
}

Notes worker_note(const Observation& o) {
  std::map<std::string, std::string> ranks_by_note;
  for (const WorkerRecords* rank : o.evidence.records) {
    for (const std::string& note : rank->notes) {
      std::string& ranks = ranks_by_note[note];
      ranks += (ranks.empty() ? "rank " : ", ") + std::to_string(rank->rank);
    }
  }
  Notes notes;
  for (const auto& [note, ranks] : ranks_by_note) notes.push_back({note, ranks, ""});
  return notes;
}

}  // namespace falcon::report::rules
