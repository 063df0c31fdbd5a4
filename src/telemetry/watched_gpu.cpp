#include "telemetry/watched_gpu.h"

#include <algorithm>

namespace falcon::telemetry {

platform::NvmlResult<platform::NvmlDevice> WatchedGpu::open() const {
  if (!nvml) return {{}, platform::nvml::kDriverNotLoaded, "NVML is not open"};
  return nvml->device_by_uuid(uuid);
}

std::optional<platform::NvmlDevice> WatchedGpu::open_or_mark(const std::string& disabled,
                                                             std::span<Metric> metrics) const {
  std::string reason = disabled;
  if (reason.empty()) {
    const auto opened = open();
    if (opened.has_value()) return opened.value;
    reason = opened.reason;
  }
  for (Metric& metric : metrics) metric.missing = reason;
  return {};
}

void mark_unsupported(std::span<const NvmlNumber> probe, std::span<Metric> metrics) {
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (probe[i].is_permanent()) metrics[i].missing = probe[i].reason;
  }
}

std::string set_readings(const WatchedGpu& gpu, std::span<const Metric> metrics,
                         std::span<const NvmlNumber> numbers, std::span<Reading> out) {
  std::string lost;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!metrics[i].missing.empty()) continue;
    out[i] = numbers[i].has_value() ? Reading::of(*numbers[i]) : Reading::none(numbers[i].reason);
    if (numbers[i].is_lost() && lost.empty()) {
      lost = "the GPU at " + gpu.pci_address + " is lost: " + numbers[i].reason;
    }
  }
  return lost;
}

GpuTelemetry& gpu_entry(Telemetry& out, const WatchedGpu& gpu) {
  std::vector<GpuTelemetry>& gpus = out.utilization.gpus;
  const auto found = std::find_if(gpus.begin(), gpus.end(),
                                  [&gpu](const auto& one) { return one.uuid == gpu.uuid; });
  if (found != gpus.end()) return *found;
  GpuTelemetry& added = gpus.emplace_back();
  added.uuid = gpu.uuid;
  added.pci_address = gpu.pci_address;
  return added;
}

}  // namespace falcon::telemetry
