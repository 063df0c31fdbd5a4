#include "report/learning.h"

#include <algorithm>

#include "measure/window.h"

namespace falcon::report {
namespace {

/// From the first step to the last thing that training waited for.
Measured<double> training_time_s(const Evidence& evidence) {
  double end_s = evidence.end_s;
  for (const WorkerRecords* rank : evidence.records) {
    for (const PauseRecord& pause : rank->pauses) end_s = std::max(end_s, pause.end_s);
  }
  return end_s - evidence.begin_s;
}

void add_accuracy(const WorkerRecords& first, Training& out) {
  if (!first.evaluation.has_value()) {
    out.accuracy = Measured<std::map<std::string, double>>::missing(first.evaluation.reason);
    out.evaluation = Measured<Evaluation>::missing(first.evaluation.reason);
    return;
  }
  const EvaluationRecord& record = *first.evaluation;
  out.accuracy = record.metrics;
  Evaluation evaluation;
  evaluation.samples = record.samples;
  evaluation.skipped = record.skipped;
  for (const PauseRecord& pause : first.pauses) {
    if (pause.kind == kEvaluationPause) evaluation.time_s += pause.end_s - pause.begin_s;
  }
  evaluation.samples_per_s = measure::rate(static_cast<double>(record.samples), evaluation.time_s);
  out.evaluation = evaluation;
}

}  // namespace

void add_learning(const Evidence& evidence, Training& out) {
  out.training_time_s = out.measured_s;
  if (out.measured_s.has_value()) out.training_time_s = training_time_s(evidence);
  if (evidence.records.empty() || evidence.records.front()->rank != 0) {
    const std::string why = "rank 0 sent no records";
    out.accuracy = Measured<std::map<std::string, double>>::missing(
        evidence.plan.spec.evaluate ? why : "evaluate is off");
    out.evaluation = Measured<Evaluation>::missing(out.accuracy.reason);
    out.initial_weights = Measured<WeightsRecord>::missing(why);
    out.saved_weights = Measured<SavedFile>::missing(why);
    return;
  }
  const WorkerRecords& first = *evidence.records.front();
  add_accuracy(first, out);
  out.initial_weights = first.weights;
  out.saved_weights = first.saved_weights;
  for (const PauseRecord& pause : first.pauses) {
    if (pause.kind != kCheckpointPause) continue;
    out.checkpoints.push_back({pause.step, pause.file, pause.bytes, pause.end_s - pause.begin_s});
  }
}

}  // namespace falcon::report
