#include "train/catalog.h"

#include <algorithm>
#include <array>

#include <falconbench/errors.h>

#include "base/text.h"
#include "train/adamw.h"
#include "train/answer_metric.h"
#include "train/detection_metric.h"
#include "train/evaluation.h"
#include "train/sgd.h"
#include "train/top_k.h"

namespace falcon::train {
namespace {

constexpr std::array kPrecisions = {
    Precision{.name = "fp32", .on_cpu = true},
    Precision{.name = "tf32", .tf32 = true},
    Precision{.name = "fp16", .autocast = at::kHalf, .loss_scaling = true},
    Precision{.name = "bf16", .autocast = at::kBFloat16, .on_cpu = true},
};

struct ScheduleRow {
  std::string_view name;
  ScheduleFunction rows;
};
constexpr std::array kSchedules = {
    ScheduleRow{"constant", constant_rows},
    ScheduleRow{"step", step_rows},
    ScheduleRow{"cosine", cosine_rows},
    ScheduleRow{"linear", linear_rows},
    ScheduleRow{"cosine_by_step", cosine_by_step_rows},
    ScheduleRow{"yolov5", yolov5_rows},
    ScheduleRow{"yolov5_cosine", yolov5_cosine_rows},
};

struct OptimizerRow {
  std::string_view name;
  std::unique_ptr<Optimizer> (*make)(std::vector<Slice> slices, const at::TensorOptions& type,
                                     const OptimizerSpec& options, const RateRows& rows);
};
constexpr std::array kOptimizers = {
    OptimizerRow{"sgd", make_sgd},
    OptimizerRow{"adamw", make_adamw},
};

struct MetricRow {
  std::string_view name;  // of the task: ModelFacts::task
  std::unique_ptr<Metric> (*make)(const Dataset& dataset);
};
constexpr std::array kMetrics = {
    MetricRow{"classification", [](const Dataset&) { return make_top_k(); }},
    MetricRow{"detection", [](const Dataset&) { return make_detection_metric(); }},
    MetricRow{"question_answering", make_answer_metric},
};

template <class Rows>
std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

template <class Rows>
const auto& row_of(const Rows& rows, std::string_view name, const std::string& what) {
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.name == name; });
  if (row != rows.end()) return *row;
  throw Error(ExitCode::kUsage, what + " \"" + std::string(name) + "\" is not one of " +
                                    base::join_or(names_of(rows)));
}

}  // namespace

const Precision& precision_of(std::string_view name, at::DeviceType device) {
  const Precision& precision = row_of(kPrecisions, name, "precision");
  if (device == at::kCPU && !precision.on_cpu) {
    throw Error(ExitCode::kUsage, "precision " + std::string(name) + " needs a GPU");
  }
  return precision;
}

ScheduleFunction schedule_of(std::string_view name) {
  return row_of(kSchedules, name, "schedule").rows;
}

std::unique_ptr<Optimizer> make_optimizer(std::vector<Slice> slices, const at::TensorOptions& type,
                                          const OptimizerSpec& options, const RateRows& rows) {
  return row_of(kOptimizers, options.kind.value_or(""), "optimizer")
      .make(std::move(slices), type, options, rows);
}

std::unique_ptr<Metric> make_metric(std::string_view task, const Dataset& dataset) {
  return row_of(kMetrics, task, "evaluate: task").make(dataset);
}

std::vector<std::string> precision_names() {
  return names_of(kPrecisions);
}
std::vector<std::string> schedule_names() {
  return names_of(kSchedules);
}
std::vector<std::string> optimizer_names() {
  return names_of(kOptimizers);
}

}  // namespace falcon::train
