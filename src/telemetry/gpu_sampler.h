// One GPU through NVML: load, memory, power, energy, clocks, temperature, and why clocks were held
// down. Each metric is probed once; the slow field values come in one driver call.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "falconbench/sampler.h"
#include "platform/nvml.h"

namespace falcon::telemetry {

struct WatchedGpu {
  std::string uuid, pci_address;
  std::shared_ptr<const platform::Nvml> nvml;  // null: there is none

  /// The device, or why it cannot be asked.
  platform::NvmlResult<platform::NvmlDevice> open() const;
};

/// The entry of a GPU in the results, added where it is not there yet.
GpuTelemetry& gpu_entry(Telemetry& out, const WatchedGpu& gpu);

class GpuSampler : public Sampler {
 public:
  GpuSampler(const char* name, WatchedGpu gpu, const std::string& disabled);

  std::span<const Metric> metrics() const override { return metrics_; }
  std::string read(std::span<Reading> out) override;
  void place(std::span<const MetricResult> results, Telemetry& out) const override;

 private:
  using Number = platform::NvmlResult<double>;
  std::vector<Number> ask();
  void ask_board(std::vector<Number>& out) const;
  void ask_fields(std::vector<Number>& out) const;
  void ask_reasons(std::vector<Number>& out);
  bool is_wanted(std::size_t metric) const { return metrics_[metric].missing.empty(); }
  Measured<std::vector<ThrottleShare>> throttle(std::span<const MetricResult> results) const;

  WatchedGpu gpu_;
  std::optional<platform::NvmlDevice> device_;
  std::vector<Metric> metrics_;
  std::atomic<std::uint64_t> unknown_bits_ = 0;  // of the event reasons, all that were seen
};

}  // namespace falcon::telemetry
