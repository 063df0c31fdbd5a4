// One GPU through NVML, what seldom changes: memory errors, limits, and who else uses the board.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "platform/root.h"
#include "telemetry/watched_gpu.h"

namespace falcon::telemetry {

class GpuHealthSampler : public Sampler {
 public:
  /// own_pids: processes of this run. root: for the names of others.
  GpuHealthSampler(const char* name, WatchedGpu gpu, std::vector<std::int64_t> own_pids,
                   platform::Root root, const std::string& disabled);

  double period_s() const override { return 10; }
  std::span<const Metric> metrics() const override { return metrics_; }
  std::string read(std::span<Reading> out) override;
  void place(std::span<const MetricResult> results, Telemetry& out) const override;

 private:
  std::vector<NvmlNumber> ask();
  NvmlNumber count_foreign();

  WatchedGpu gpu_;
  std::vector<std::int64_t> own_pids_;
  platform::Root root_;
  std::vector<Metric> metrics_;
  std::optional<platform::NvmlDevice> device_;
  mutable std::mutex mutex_;
  std::map<std::int64_t, GpuProcess> foreign_;
  std::string not_judged_;  // why it is not known who else is there; empty: it is
};

}  // namespace falcon::telemetry
