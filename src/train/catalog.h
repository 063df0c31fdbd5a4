// What the trainer can do by name: precisions, schedules, optimizers. The same words as the tables
// of falconbench/catalog.h.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include <falconbench/dataset.h>

#include "train/optimizer.h"
#include "train/schedule.h"

namespace falcon::train {

class Metric;

struct Precision {
  std::string_view name;
  std::optional<at::ScalarType> autocast = {};  // 16-bit type of matrix products and convolutions
  bool loss_scaling = false;
  bool tf32 = false;
  bool on_cpu = false;
};

/// Throws Error(kUsage) for a name that is not there, or not there on this kind of device.
const Precision& precision_of(std::string_view name, at::DeviceType device);
/// Throws Error(kUsage) when there is no such schedule.
ScheduleFunction schedule_of(std::string_view name);
/// What updates these slices, all of this floating type and on its device. By options.kind, which
/// must be resolved; throws Error(kUsage) when there is no such optimizer.
std::unique_ptr<Optimizer> make_optimizer(std::vector<Slice> slices, const at::TensorOptions& type,
                                          const OptimizerSpec& options, const RateRows& rows);

/// What a task's evaluation measures. dataset: what is evaluated on; it must outlive the metric.
/// Throws Error(kUsage) for a task without one.
std::unique_ptr<Metric> make_metric(std::string_view task, const Dataset& dataset);

std::vector<std::string> precision_names();
std::vector<std::string> schedule_names();
std::vector<std::string> optimizer_names();

}  // namespace falcon::train
