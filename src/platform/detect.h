// What this host is, without CUDA: procfs, sysfs and control groups below a root, GPUs through
// NVML.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "falconbench/host.h"
#include "platform/environment.h"
#include "platform/nvml.h"

namespace falcon::platform {

struct DetectOptions {
  std::string root = "/";
  /// To keep NVML open after detection (as a run does: without persistence mode the driver unloads
  /// with its last client). Null: opened for the detection only, and below another root only where
  /// FALCONBENCH_NVML_LIBRARY names a library.
  std::shared_ptr<const Nvml> nvml;
  std::optional<std::vector<int>> affinity;  // default: of this process
  std::optional<Environment> environment;    // default: of this process
};

/// Never throws for what a host lacks: unknown is missing with a reason. Takes milliseconds; the
/// first NVML call on a host without persistence mode takes seconds.
Host detect(const DetectOptions& options = {});

}  // namespace falcon::platform
