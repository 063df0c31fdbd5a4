// One GPU through NVML, what takes microseconds to read: load, memory, power, clocks, temperature,
// and the mask of why clocks are held down. Each metric is probed once.
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "telemetry/watched_gpu.h"

namespace falcon::telemetry {

class GpuSampler : public Sampler {
 public:
  /// counted: bits of throttle reasons that the driver counts, which need no sampling.
  GpuSampler(const char* name, WatchedGpu gpu, std::uint64_t counted, const std::string& disabled);

  std::span<const Metric> metrics() const override { return metrics_; }
  std::string read(std::span<Reading> out) override;
  void place(std::span<const MetricResult> results, Telemetry& out) const override;

 private:
  std::vector<NvmlNumber> ask();
  void ask_fields(std::vector<NvmlNumber>& out) const;
  void ask_reasons(std::vector<NvmlNumber>& out);
  bool is_wanted(std::size_t metric) const { return metrics_[metric].missing.empty(); }

  WatchedGpu gpu_;
  std::vector<std::size_t> sampled_;  // reasons that are, by their place in the table
  std::vector<Metric> metrics_;       // plain ones, one of each sampled reason, other bits
  std::optional<platform::NvmlDevice> device_;
  std::atomic<std::uint64_t> unknown_bits_ = 0;  // of the event reasons, all that were seen
};

}  // namespace falcon::telemetry
