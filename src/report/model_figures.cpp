#include "report/model_figures.h"

#include <array>

#include "measure/peaks.h"

namespace falcon::report {
namespace {

constexpr double kTrainingPerForward = 3;  // the backward pass is two products for each forward one

measure::MathMode math_mode(const PrecisionFacts& precision) {
  if (precision.tf32) return measure::MathMode::kTf32;
  if (!precision.autocast) return measure::MathMode::kFp32;
  // of the two 16-bit types only fp16 is too narrow to do without
  return precision.loss_scaling ? measure::MathMode::kFp16 : measure::MathMode::kBf16;
}

Measured<double> flops_per_sample(const RunSpec& spec, const ModelFacts* model) {
  if (model == nullptr || !(model->forward_flops_per_sample > 0)) {
    return Measured<double>::missing("not known for this model");
  }
  if (spec.image_size && *spec.image_size != model->image_size) {
    return Measured<double>::missing("known for image_size " + std::to_string(model->image_size) +
                                     " only");
  }
  return kTrainingPerForward * catalog::sized(*model, spec).forward_flops_per_sample;
}

void add_peak(const Plan& plan, const PrecisionFacts* precision, ModelFigures& out) {
  double sum = 0;
  out.peak_source = "none";
  out.peak_flops_per_s = Measured<double>::missing("the plan has no device");
  for (const RankPlan& rank : plan.ranks) {
    for (const DevicePlan& device : rank.devices) {
      const bool is_gpu = device.kind != "cpu";
      if (!is_gpu || precision == nullptr) {
        out.peak_flops_per_s = Measured<double>::missing(
            is_gpu ? "unknown precision" : "no data sheet peak is stated for a CPU");
        return;
      }
      const Measured<measure::Peak> peak = measure::peak(device.name, math_mode(*precision));
      if (!peak.has_value()) {
        out.peak_flops_per_s = Measured<double>::missing(peak.reason);
        return;
      }
      sum += (*peak).flops_per_s;
      out.peak_flops_per_s = sum;
      out.peak_source = (*peak).source;
    }
  }
}

}  // namespace

ModelFigures make_model_figures(const Evidence& evidence, const Throughput& throughput,
                                const ModelFacts* model, const PrecisionFacts* precision) {
  ModelFigures out;
  out.parameters = evidence.records.empty()
                       ? evidence.missing<std::int64_t>()
                       : Measured<std::int64_t>(evidence.records.front()->parameters);
  out.flops_per_sample = flops_per_sample(evidence.plan.spec, model);
  add_peak(evidence.plan, precision, out);
  const std::array<const Measured<double>*, 3> needed{&out.flops_per_sample, &out.peak_flops_per_s,
                                                      &throughput.samples_per_s};
  for (const Measured<double>* figure : needed) {
    if (figure->has_value()) continue;
    out.mfu = *figure;
    return out;
  }
  out.mfu = *out.flops_per_sample * *throughput.samples_per_s / *out.peak_flops_per_s;
  return out;
}

}  // namespace falcon::report
