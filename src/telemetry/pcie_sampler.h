// PCIe traffic of one GPU without GPM. Each of the two NVML calls watches a byte counter for 20 ms,
// so this has a lane of its own and sees 40 ms of every interval: means need many readings. The
// cumulative byte fields (197, 198) are no way out: they wrap at 2^32, every 78 ms at full speed.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "falconbench/sampler.h"
#include "telemetry/watched_gpu.h"

namespace falcon::telemetry {

class PcieSampler : public Sampler {
 public:
  PcieSampler(const char* name, WatchedGpu gpu, const std::string& disabled);

  std::span<const Metric> metrics() const override { return metrics_; }
  std::string read(std::span<Reading> out) override;
  void place(std::span<const MetricResult> results, Telemetry& out) const override;

 private:
  std::vector<NvmlNumber> ask() const;

  WatchedGpu gpu_;
  std::vector<Metric> metrics_;
  std::optional<platform::NvmlDevice> device_;
};

}  // namespace falcon::telemetry
