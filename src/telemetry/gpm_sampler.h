// Activity and traffic of one GPU by NVML's GPM: what happened between two readings, all of it. On
// boards that have it (Hopper and newer) it stands in for PcieSampler's 20 ms of each interval.
#pragma once
#include <memory>
#include <vector>

#include "platform/nvml_gpm.h"
#include "telemetry/watched_gpu.h"

namespace falcon::telemetry {

class GpmSampler : public Sampler {
 public:
  GpmSampler(const char* name, WatchedGpu gpu, const std::string& disabled);

  /// Whether this board's PCIe traffic can be had so.
  static bool can_tell(const WatchedGpu& gpu);
  double period_s() const override { return platform::NvmlGpm::kMinIntervalS; }
  std::span<const Metric> metrics() const override { return metrics_; }
  std::string read(std::span<Reading> out) override;
  void place(std::span<const MetricResult> results, Telemetry& out) const override;

 private:
  WatchedGpu gpu_;
  std::vector<Metric> metrics_;
  std::unique_ptr<platform::NvmlGpm> gpm_;
};

}  // namespace falcon::telemetry
