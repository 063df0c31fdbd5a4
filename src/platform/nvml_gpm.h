// GPU performance monitoring of NVML (GPM): what a GPU did between two samples. Hopper and newer;
// no counter is taken from other tools (as those of DCGM's profiling are).
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "platform/nvml.h"

namespace falcon::platform {

/// NVML_GPM_METRIC_*: shares in percent, traffic in MiB/s seen from the GPU, protocol included.
namespace gpm {
constexpr unsigned kSmActive = 2;
constexpr unsigned kTensorActive = 5;
constexpr unsigned kDramActive = 10;
constexpr unsigned kPcieTx = 20;
constexpr unsigned kPcieRx = 21;
constexpr unsigned kNvlinkRx = 60;
constexpr unsigned kNvlinkTx = 61;
}  // namespace gpm

/// One thread each. Valid while the Nvml of its device lives.
class NvmlGpm {
 public:
  /// The counters behind it are refreshed every 100 ms: samples closer than that say nothing.
  static constexpr double kMinIntervalS = 0.1;

  /// Whether the board has GPM, by one cheap call.
  static NvmlResult<bool> is_supported(const NvmlDevice& device);
  static NvmlResult<std::unique_ptr<NvmlGpm>> open(const NvmlDevice& device);
  ~NvmlGpm();
  NvmlGpm(const NvmlGpm&) = delete;
  NvmlGpm& operator=(const NvmlGpm&) = delete;

  /// Takes a sample. The value: there was one before. After a failure the one before stays.
  NvmlResult<bool> sample();
  /// Means between the last two samples, in the order asked for. REQUIRES: sample() gave true.
  std::vector<NvmlResult<double>> values(std::span<const unsigned> metrics) const;

 private:
  NvmlGpm(const Nvml& library, nvml::Handle handle) : library_(&library), handle_(handle) {}

  const Nvml* library_;
  nvml::Handle handle_;
  nvml::GpmSample earlier_ = nullptr, later_ = nullptr;
  bool has_later_ = false;
  std::unique_ptr<nvml::GpmMetricsGet> request_ = std::make_unique<nvml::GpmMetricsGet>();
};

}  // namespace falcon::platform
