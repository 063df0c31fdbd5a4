#include <algorithm>

#include "analysis/predict/predict.h"
#include "base/text.h"
#include "falconbench/errors.h"

namespace falcon::analysis {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kBackwardShare = 2.0 / 3;
// Of the time from the first gradient to the last sum. Above it nothing but the exchange is seen.
constexpr double kBoundShare = 0.9;
// Backward against forward pass: twice the products, and gradients that are gathered. Runs whose
// exchange was hidden had 2.0 (ResNet-50) to 2.8 (BERT-large).
constexpr double kBackwardOfForward = 2.5, kBackwardError = 0.5;

double need(const Measured<double>& value, const std::string& name) {
  if (value.has_value()) return *value;
  throw Error(ExitCode::kUsage, "the report cannot be predicted from: " + name +
                                    " is missing: " + base::printable(value.reason, 200));
}

Measured<double> phase_ms(const Measured<Statistics>& phase) {
  return phase.has_value() ? phase.value->mean : Measured<double>::missing(phase.reason);
}

/// The first bucket is small so that the exchange starts early, the others are as equal as layers
/// allow.
std::vector<double> buckets_of(double bytes, double calls, const DdpSpec& ddp) {
  const double first = std::min(bytes, ddp.first_bucket_mb * kMiB);
  if (calls < 1) calls = 1 + std::max(0.0, (bytes - first) / (ddp.bucket_mb * kMiB));
  const auto number = static_cast<std::size_t>(calls + 0.5);
  if (number <= 1) return {bytes};
  std::vector<double> sizes(number, (bytes - first) / static_cast<double>(number - 1));
  sizes.front() = first;
  return sizes;
}

void add_exchange(const Report& report, StepModel& out) {
  const Communication& communication = report.training.communication;
  const DdpSpec& ddp = report.spec.parallelism.ddp;
  // zero: engine.allreduce is off
  if (communication.bytes_per_step.value.value_or(0) > 0) {
    out.bucket_bytes =
        buckets_of(static_cast<double>(*communication.bytes_per_step),
                   static_cast<double>(communication.calls_per_step.value.value_or(0)), ddp);
    out.exposed_ms = communication.exposed_ms.value.value_or(0);
    out.busy_ms = communication.busy_ms;
    if (!communication.exposed_ms.has_value()) {
      out.assumptions.push_back("all of the exchange was hidden in the measured run (" +
                                communication.exposed_ms.reason + ")");
    }
    return;
  }
  const Measured<std::int64_t>& parameters = report.training.model.parameters;
  if (!parameters.has_value()) {
    throw Error(ExitCode::kUsage,
                "the report cannot be predicted from: it has neither bytes of its exchange nor the "
                "number of parameters");
  }
  // the default is 32 bit wide, the others 16
  const double width = report.spec.engine.gradient_dtype == EngineSpec().gradient_dtype ? 4 : 2;
  out.bucket_bytes = buckets_of(width * static_cast<double>(*parameters), 0, ddp);
  out.busy_ms = Measured<double>::missing("the run exchanged nothing");
  out.assumptions.push_back("gradients of all parameters are exchanged, " +
                            base::number_text(width) + " bytes each");
}

/// A backward pass beside an exchange that is never idle waits for it in places, and does so less
/// on other links: what it takes by itself then follows from the forward pass.
void take_waiting_out(const Measured<double>& forward_ms, StepModel& out) {
  if (!out.busy_ms.has_value() || !forward_ms.has_value()) return;
  if (*out.busy_ms < kBoundShare * (out.backward_ms + out.exposed_ms)) return;
  const double usual_ms = kBackwardOfForward * *forward_ms;
  if (out.backward_ms <= usual_ms) return;
  out.exposed_ms += out.backward_ms - usual_ms;
  out.backward_ms = usual_ms;
  out.backward_error_ms = kBackwardError * *forward_ms;
  out.assumptions.push_back(
      "the measured run waited for its exchange all through the backward pass, which by itself is "
      "taken for " +
      base::number_text(kBackwardOfForward) + " forward passes");
}

}  // namespace

StepModel step_model(const Report& report) {
  const Training& training = report.training;
  StepModel out;
  out.model = report.spec.model;
  out.ranks = std::max(1, static_cast<int>(report.ranks.size()));
  out.samples_per_rank = static_cast<double>(report.plan.global_batch) / out.ranks;
  out.step_ms = need(training.step_time_ms.mean, "training.step_time_ms");
  out.relative_ci95 = training.step_time_ms.ci95.value.value_or(0) / out.step_ms;
  add_exchange(report, out);
  const Measured<double> backward = phase_ms(training.phases_ms.backward);
  if (backward.has_value()) {
    out.backward_ms = *backward;
  } else {
    out.backward_ms = kBackwardShare * (out.step_ms - out.exposed_ms);
    out.assumptions.push_back(
        "the backward pass is two thirds of the computation (phase: " + backward.reason + ")");
  }
  take_waiting_out(phase_ms(training.phases_ms.forward), out);
  out.input_samples_per_s = training.input.capacity_samples_per_s;
  return out;
}

}  // namespace falcon::analysis
