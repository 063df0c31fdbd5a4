// What the trainer can do by name: precisions, schedules, optimizers. The same words as the tables
// of falconbench/catalog.h.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include "train/schedule.h"

namespace falcon::train {

struct Precision {
  std::string_view name;
  std::optional<at::ScalarType> autocast = {};  // 16-bit type of matrix products and convolutions
  bool loss_scaling = false;
  bool tf32 = false;
  bool on_cpu = false;
};

/// Throws Error(kUsage) for a name that is not there, or not there on this kind of device.
const Precision& precision_of(std::string_view name, at::DeviceType device);
/// Factor of the learning rate in an epoch after the warm-up; throws Error(kUsage).
RateFunction schedule_of(std::string_view name);
/// Throws Error(kUsage) when there is no such optimizer.
void check_optimizer(std::string_view name);

std::vector<std::string> precision_names();
std::vector<std::string> schedule_names();
std::vector<std::string> optimizer_names();

}  // namespace falcon::train
