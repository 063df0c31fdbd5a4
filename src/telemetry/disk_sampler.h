// Block devices from /proc/diskstats: every physical disk and the device that holds the data set.
#pragma once
#include <string>
#include <vector>

#include "falconbench/sampler.h"
#include "platform/root.h"

namespace falcon::telemetry {

class DiskSampler : public Sampler {
 public:
  /// data_device: major:minor, see device_number_of().
  DiskSampler(const char* name, platform::Root root, const Measured<std::string>& data_device,
              const std::string& disabled);

  std::span<const Metric> metrics() const override { return metrics_; }
  std::string read(std::span<Reading> out) override;
  void place(std::span<const MetricResult> results, Telemetry& out) const override;

 private:
  platform::Root root_;
  Measured<std::string> data_disk_;
  std::string no_disks_;                 // why there are none; empty: there are
  std::vector<std::string> disks_;       // kPerDisk metrics each
  std::vector<std::string> data_disks_;  // the data set's device and what it is made of
  std::vector<Metric> metrics_;
};

}  // namespace falcon::telemetry
