#include <algorithm>

#include "report/figures.h"
#include "report/findings.h"

namespace falcon::report::rules {
namespace {

constexpr double kThrottledPct = 5;  // below, the clocks of a healthy board move too
constexpr std::size_t kMaxNamed = 5;

/// What is wrong with each source, in words.
std::vector<std::string> gaps_of(const Observation& o) {
  const Utilization& utilization = o.report.utilization;
  std::vector<std::string> gaps;
  for (const SourceTelemetry& source : utilization.sources) {
    const auto add = [&](const std::string& what) {
      gaps.push_back(source.sampler);
      gaps.back().append(" of ").append(source.scope).append(": ").append(what);
    };
    if (!source.stopped.empty()) add(source.stopped);
    for (const std::string& metric : source.unsupported) add(metric);
  }
  if (utilization.gpus.empty() && !o.report.topology.gpus.empty()) {
    gaps.emplace_back("no telemetry of any GPU");
  }
  const MeasuredSummary& cpu = utilization.host.cpu_pct;
  if (!cpu.has_value()) gaps.push_back("host CPU: " + cpu.reason);
  return gaps;
}

const Gpu* find_gpu(const Host& host, const std::string& uuid) {
  const auto found = std::find_if(host.gpus.begin(), host.gpus.end(),
                                  [&uuid](const Gpu& gpu) { return gpu.uuid == uuid; });
  return found == host.gpus.end() ? nullptr : &*found;
}

}  // namespace

Notes telemetry_missing(const Observation& o) {
  const auto& asked = o.report.spec.telemetry.samplers;
  if (!o.report.training.measured_s.has_value() || (asked && asked->empty())) return {};
  const std::vector<std::string> gaps = gaps_of(o);
  if (gaps.empty()) return {};
  std::string evidence;
  for (std::size_t i = 0; i < std::min(gaps.size(), kMaxNamed); ++i) {
    evidence += (i == 0 ? "" : "; ") + gaps[i];
  }
  if (gaps.size() > kMaxNamed) {
    evidence += "; and " + std::to_string(gaps.size() - kMaxNamed) + " more";
  }
  return {{"some telemetry could not be read; these values are null", evidence,
           "see utilization.sources"}};
}

Notes gpu_throttled(const Observation& o) {
  Notes notes;
  for (const GpuTelemetry& gpu : o.report.utilization.gpus) {
    if (!gpu.throttle.has_value()) continue;
    for (const ThrottleShare& share : *gpu.throttle) {
      if (share.reason == "idle" || share.share_pct < kThrottledPct) continue;
      notes.push_back({"GPU " + gpu.pci_address + " held its clocks down: " + share.reason,
                       percent(share.share_pct / 100) + " of the measured window, " + share.basis,
                       "compare with the other GPUs; look at cooling and power limit"});
    }
  }
  return notes;
}

/// Only the width: the generation of an idle link drops to save power, its width does not.
Notes pcie_link_degraded(const Observation& o) {
  Notes notes;
  for (const TopologyGpu& used : o.report.topology.gpus) {
    const Gpu* gpu = find_gpu(o.report.system, used.uuid);
    if (gpu == nullptr || !gpu->pcie_width.has_value() || !gpu->pcie_width_max.has_value()) {
      continue;
    }
    if (*gpu->pcie_width >= *gpu->pcie_width_max) continue;
    notes.push_back(
        {"the PCIe link of GPU " + gpu->pci_address + " is narrower than it can be",
         "x" + std::to_string(*gpu->pcie_width) + " of x" + std::to_string(*gpu->pcie_width_max),
         "reseat the board or cable; look at the slot's wiring"});
  }
  return notes;
}

}  // namespace falcon::report::rules
