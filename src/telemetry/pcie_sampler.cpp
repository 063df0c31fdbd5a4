#include "telemetry/pcie_sampler.h"

namespace falcon::telemetry {
namespace {

constexpr unsigned kDirections[] = {platform::nvml::kPcieRx, platform::nvml::kPcieTx};

}  // namespace

PcieSampler::PcieSampler(const char* name, WatchedGpu gpu, const std::string& disabled)
    : Sampler(name, gpu.uuid, "pcie " + gpu.uuid),
      gpu_(std::move(gpu)),
      metrics_({{.name = "pcie_rx_bytes_per_s"}, {.name = "pcie_tx_bytes_per_s"}}) {
  std::string reason = disabled;
  if (reason.empty()) {
    const auto opened = gpu_.open();
    device_ = opened.value;
    reason = opened.reason;
  }
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (device_) {
      const auto probe = device_->pcie_bytes_per_s(kDirections[i]);
      reason = probe.is_permanent() ? probe.reason : "";
    }
    metrics_[i].missing = reason;
  }
}

std::string PcieSampler::read(std::span<Reading> out) {
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (!metrics_[i].missing.empty()) continue;
    const auto rate = device_->pcie_bytes_per_s(kDirections[i]);
    out[i] = rate.has_value() ? Reading::of(*rate) : Reading::none(rate.reason);
    if (rate.is_lost()) return "the GPU at " + gpu_.pci_address + " is lost: " + rate.reason;
  }
  return "";
}

void PcieSampler::place(std::span<const MetricResult> results, Telemetry& out) const {
  GpuTelemetry& gpu = gpu_entry(out, gpu_);
  gpu.pcie_rx_bytes_per_s = results[0].summary;
  gpu.pcie_tx_bytes_per_s = results[1].summary;
}

}  // namespace falcon::telemetry
