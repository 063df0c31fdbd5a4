// Memory of the host from /proc/meminfo and page faults from /proc/vmstat.
#pragma once
#include <string>
#include <vector>

#include "falconbench/sampler.h"
#include "platform/root.h"

namespace falcon::telemetry {

class MemorySampler : public Sampler {
 public:
  MemorySampler(const char* name, platform::Root root, const std::string& disabled);

  std::span<const Metric> metrics() const override { return metrics_; }
  std::string read(std::span<Reading> out) override;
  void place(std::span<const MetricResult> results, Telemetry& out) const override;

 private:
  platform::Root root_;
  std::vector<Metric> metrics_;
};

}  // namespace falcon::telemetry
