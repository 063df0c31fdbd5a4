#include "telemetry/pcie_sampler.h"

namespace falcon::telemetry {
namespace {

constexpr unsigned kDirections[] = {platform::nvml::kPcieRx, platform::nvml::kPcieTx};

}  // namespace

PcieSampler::PcieSampler(const char* name, WatchedGpu gpu, const std::string& disabled)
    : Sampler(name, gpu.uuid, "pcie " + gpu.uuid),
      gpu_(std::move(gpu)),
      metrics_({{.name = "pcie_rx_bytes_per_s"}, {.name = "pcie_tx_bytes_per_s"}}),
      device_(gpu_.open_or_mark(disabled, metrics_)) {
  if (device_) mark_unsupported(ask(), metrics_);
}

std::vector<NvmlNumber> PcieSampler::ask() const {
  std::vector<NvmlNumber> out(metrics_.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (metrics_[i].missing.empty()) out[i] = device_->pcie_bytes_per_s(kDirections[i]);
  }
  return out;
}

std::string PcieSampler::read(std::span<Reading> out) {
  return set_readings(gpu_, metrics_, ask(), out);
}

void PcieSampler::place(std::span<const MetricResult> results, Telemetry& out) const {
  GpuTelemetry& gpu = gpu_entry(out, gpu_);
  if (gpu.pcie_basis.has_value()) return;  // GPM told
  gpu.pcie_rx_bytes_per_s = results[0].summary;
  gpu.pcie_tx_bytes_per_s = results[1].summary;
  gpu.pcie_basis = results[0].summary.has_value()
                       ? Measured<std::string>("sampled")
                       : Measured<std::string>::missing(results[0].summary.reason);
}

}  // namespace falcon::telemetry
