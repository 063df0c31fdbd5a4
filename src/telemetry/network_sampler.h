// Network interfaces from /proc/net/dev: those of this process's network namespace, the loopback
// one among them (ranks of one host may talk through it).
#pragma once
#include <string>
#include <vector>

#include "falconbench/sampler.h"
#include "platform/root.h"

namespace falcon::telemetry {

class NetworkSampler : public Sampler {
 public:
  NetworkSampler(const char* name, platform::Root root, const std::string& disabled);

  std::span<const Metric> metrics() const override { return metrics_; }
  std::string read(std::span<Reading> out) override;
  void place(std::span<const MetricResult> results, Telemetry& out) const override;

 private:
  platform::Root root_;
  std::string no_interfaces_;            // why there are none; empty: there are
  std::vector<std::string> interfaces_;  // kPerInterface metrics each
  std::vector<Metric> metrics_;
};

}  // namespace falcon::telemetry
