// Processor time of the host and of each logical CPU and the run queue from /proc/stat, the load
// average, and what the container quota held back from the control group's cpu.stat.
#pragma once
#include <string>
#include <vector>

#include "falconbench/sampler.h"
#include "platform/root.h"

namespace falcon::telemetry {

class CpuSampler : public Sampler {
 public:
  CpuSampler(const char* name, platform::Root root, const std::string& disabled);

  std::span<const Metric> metrics() const override { return metrics_; }
  std::string read(std::span<Reading> out) override;
  void place(std::span<const MetricResult> results, Telemetry& out) const override;

 private:
  void read_times(std::span<Reading> out) const;
  Reading read_load_average() const;
  Reading read_throttled() const;

  platform::Root root_;
  std::string cpu_stat_;    // of the control group; empty: none
  std::vector<int> cores_;  // logical CPUs that have a metric, after the host's
  std::vector<Metric> metrics_;
};

}  // namespace falcon::telemetry
