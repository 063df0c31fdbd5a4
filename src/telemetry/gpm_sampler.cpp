#include "telemetry/gpm_sampler.h"

#include <array>
#include <utility>

namespace falcon::telemetry {
namespace {

namespace gpm = platform::gpm;

constexpr double kMib = 1024 * 1024;
// In the order of the metrics.
constexpr std::array<unsigned, 7> kIds = {gpm::kSmActive, gpm::kTensorActive, gpm::kDramActive,
                                          gpm::kPcieRx,   gpm::kPcieTx,       gpm::kNvlinkRx,
                                          gpm::kNvlinkTx};
enum Index : std::size_t {
  kSmActive,
  kTensorActive,
  kDramActive,
  kPcieRx,
  kPcieTx,
  kNvlinkRx,
  kNvlinkTx,
};

std::vector<Metric> make_metrics() {
  std::vector<Metric> metrics;
  for (const char* name : {"sm_active_pct", "tensor_active_pct", "dram_active_pct"}) {
    metrics.push_back(
        {.name = name, .kind = MetricKind::kMean, .direction = Direction::kHigherIsBetter});
  }
  for (const char* name : {"pcie_rx_bytes_per_s", "pcie_tx_bytes_per_s",
                           "nvlink_raw_rx_bytes_per_s", "nvlink_raw_tx_bytes_per_s"}) {
    metrics.push_back({.name = name, .kind = MetricKind::kMean, .scale = kMib});
  }
  for (Metric& metric : metrics) metric.is_rare = true;
  return metrics;
}

}  // namespace

GpmSampler::GpmSampler(const char* name, WatchedGpu gpu, const std::string& disabled)
    : Sampler(name, gpu.uuid, "gpm " + gpu.uuid), gpu_(std::move(gpu)), metrics_(make_metrics()) {
  const auto device = gpu_.open_or_mark(disabled, metrics_);
  if (!device) return;
  auto opened = platform::NvmlGpm::open(*device);
  for (Metric& metric : metrics_) metric.missing = opened.reason;
  if (opened.has_value()) gpm_ = std::move(*opened.value);
}

bool GpmSampler::can_tell(const WatchedGpu& gpu) {
  const auto device = gpu.open();
  return device.has_value() && platform::NvmlGpm::is_supported(*device).has_value();
}

std::string GpmSampler::read(std::span<Reading> out) {
  const platform::NvmlResult<bool> sampled = gpm_->sample();
  if (!sampled.has_value()) {
    const NvmlNumber none{{}, sampled.code, sampled.reason};
    return set_readings(gpu_, metrics_, std::vector<NvmlNumber>(metrics_.size(), none), out);
  }
  if (!*sampled) {  // the mark that the first means begin at
    for (Reading& reading : out) reading = Reading::of(0);
    return "";
  }
  return set_readings(gpu_, metrics_, gpm_->values(kIds), out);
}

void GpmSampler::place(std::span<const MetricResult> results, Telemetry& out) const {
  GpuTelemetry& gpu = gpu_entry(out, gpu_);
  gpu.sm_active_pct = results[kSmActive].summary;
  gpu.tensor_active_pct = results[kTensorActive].summary;
  gpu.dram_active_pct = results[kDramActive].summary;
  if (gpm_) {
    gpu.pcie_rx_bytes_per_s = results[kPcieRx].summary;
    gpu.pcie_tx_bytes_per_s = results[kPcieTx].summary;
    gpu.pcie_basis = results[kPcieRx].summary.has_value()
                         ? Measured<std::string>("counted")
                         : Measured<std::string>::missing(results[kPcieRx].summary.reason);
  }
  // Payload, where it is counted, goes before what holds the protocol too.
  if (!gpu.nvlink_rx_bytes_per_s.has_value() && results[kNvlinkRx].summary.has_value()) {
    gpu.nvlink_rx_bytes_per_s = results[kNvlinkRx].summary;
    gpu.nvlink_tx_bytes_per_s = results[kNvlinkTx].summary;
    gpu.nvlink_basis = std::string("with_protocol");
  }
}

}  // namespace falcon::telemetry
