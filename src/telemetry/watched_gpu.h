// What the samplers of one GPU share: the board, its entry in the results, and readings from NVML's
// answers.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "falconbench/sampler.h"
#include "platform/nvml.h"

namespace falcon::telemetry {

using NvmlNumber = platform::NvmlResult<double>;

struct WatchedGpu {
  std::string uuid, pci_address;
  std::shared_ptr<const platform::Nvml> nvml;  // null: there is none

  /// The device, or why it cannot be asked.
  platform::NvmlResult<platform::NvmlDevice> open() const;
  /// The device; without one, or with a reason not to ask (disabled), every metric is missing.
  std::optional<platform::NvmlDevice> open_or_mark(const std::string& disabled,
                                                   std::span<Metric> metrics) const;
};

/// Metrics that the board will never give are missing from the probe on.
void mark_unsupported(std::span<const NvmlNumber> probe, std::span<Metric> metrics);
/// Readings of the metrics that are not missing. Returns "" or why the GPU is lost.
std::string set_readings(const WatchedGpu& gpu, std::span<const Metric> metrics,
                         std::span<const NvmlNumber> numbers, std::span<Reading> out);

/// A part of an answer, as a number.
template <class T, class Convert>
NvmlNumber part(const platform::NvmlResult<T>& whole, Convert convert) {
  if (!whole.has_value()) return {{}, whole.code, whole.reason};
  return {static_cast<double>(convert(*whole)), whole.code, ""};
}

/// The entry of a GPU in the results, added where it is not there yet.
GpuTelemetry& gpu_entry(Telemetry& out, const WatchedGpu& gpu);

}  // namespace falcon::telemetry
