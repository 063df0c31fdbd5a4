// One GPU through NVML, what takes milliseconds to read: counters of energy, throttling and NVLink,
// and the state of the PCIe link. They grow by themselves, so a second between readings loses
// nothing; on a lane of its own it does not hold the quick ones up.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "telemetry/watched_gpu.h"

namespace falcon::telemetry {

class GpuCounterSampler : public Sampler {
 public:
  GpuCounterSampler(const char* name, WatchedGpu gpu, const std::string& disabled);

  /// Bits of the throttle reasons that the driver counts.
  std::uint64_t counted() const;
  double period_s() const override { return 1; }
  std::span<const Metric> metrics() const override { return metrics_; }
  std::string read(std::span<Reading> out) override;
  void place(std::span<const MetricResult> results, Telemetry& out) const override;

 private:
  std::vector<NvmlNumber> ask() const;
  void ask_nvlink(std::vector<NvmlNumber>& out) const;
  void ask_link(std::vector<NvmlNumber>& out) const;
  bool is_wanted(std::size_t metric) const { return metrics_[metric].missing.empty(); }

  WatchedGpu gpu_;
  std::vector<Metric> metrics_;
  std::optional<platform::NvmlDevice> device_;
};

}  // namespace falcon::telemetry
