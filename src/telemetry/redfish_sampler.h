// Byte and error counters of the ports in one chassis, from its management. On a lane of its own: a
// management controller may take seconds to answer.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "falconbench/sampler.h"
#include "falconbench/system_chassis.h"
#include "telemetry/redfish_ports.h"

namespace falcon::telemetry {

/// How to ask the management of a chassis.
struct WatchedChassis {
  std::string name;
  RedfishAddress address;
  std::string credentials_file;  // "": the environment
  std::map<std::string, SystemDrawer> drawers;
};

class RedfishSampler : public Sampler {
 public:
  RedfishSampler(const char* name, WatchedChassis chassis, const std::string& disabled);

  double period_s() const override { return 1; }
  /// Walks the service and reads every counter once.
  void prepare() override;
  void interrupt() override;
  std::span<const Metric> metrics() const override { return metrics_; }
  std::string read(std::span<Reading> out) override;
  void place(std::span<const MetricResult> results, Telemetry& out) const override;

 private:
  void give_up(const std::string& why);

  WatchedChassis chassis_;
  std::mutex mutex_;  // of the pointer: interrupt() comes from another thread
  std::unique_ptr<RedfishClient> client_;
  bool is_interrupted_ = false;
  std::vector<RedfishPort> ports_;  // kNumPortCounters metrics each, or
  std::vector<Metric> metrics_;     // one that is missing
};

}  // namespace falcon::telemetry
