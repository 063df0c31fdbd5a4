// CPU time, memory and page faults, or storage traffic of the workers, from /proc/PID. Beside the
// host's figures, which hold everybody's work.
#pragma once
#include <string>
#include <vector>

#include "falconbench/sampler.h"
#include "platform/process_usage.h"
#include "telemetry/catalog.h"

namespace falcon::telemetry {

enum class ProcessPart { kCpu, kMemory, kStorage };

class ProcessSampler : public Sampler {
 public:
  ProcessSampler(const char* name, ProcessPart part, platform::Root root,
                 std::vector<WatchedProcess> processes, const std::string& disabled);

  std::span<const Metric> metrics() const override { return metrics_; }
  std::string read(std::span<Reading> out) override;
  void place(std::span<const MetricResult> results, Telemetry& out) const override;

 private:
  std::size_t per_process() const;

  ProcessPart part_;
  platform::Root root_;
  std::vector<WatchedProcess> processes_;
  std::vector<Metric> metrics_;  // per_process() of each
};

}  // namespace falcon::telemetry
