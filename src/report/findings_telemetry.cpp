#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/figures.h"
#include "report/findings.h"

namespace falcon::report::rules {
namespace {

constexpr double kThrottledPct = 5;  // below, the clocks of a healthy board move too
constexpr std::size_t kMaxNamed = 5;
constexpr double kLinkStep = 0.05;  // less is the noise of a mean over whole numbers

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

template <class T>
double number_of(const T& value) {
  return static_cast<double>(value);
}
double number_of(const Summary& summary) {
  return summary.mean;
}

/// "x8 of x16" when a value that is known is below one that is.
template <class T, class M>
void add_below(const Measured<T>& value, const Measured<M>& most, const std::string& unit,
               std::string& evidence) {
  if (!value.has_value() || !most.has_value()) return;
  if (number_of(*value) > number_of(*most) - kLinkStep) return;
  const auto text = [&unit](double number) {
    return unit + base::number_text(std::round(number * 100) / 100);
  };
  evidence +=
      (evidence.empty() ? "" : ", ") + text(number_of(*value)) + " of " + text(number_of(*most));
}

/// The plan tells of links that are narrow before the run.
bool is_told(const Plan& plan, const std::string& pci_address) {
  return std::any_of(plan.findings.begin(), plan.findings.end(), [&](const Finding& finding) {
    return finding.id == "pcie_link_degraded" &&
           finding.message.find(pci_address) != std::string::npos;
  });
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

Notes pcie_link_degraded(const Observation& o) {
  Notes notes;
  for (const GpuTelemetry& gpu : o.report.utilization.gpus) {
    // Readings that found the GPU idle do not count there.
    const GpuLinkTelemetry& link = gpu.pcie_link;
    std::string evidence;
    add_below(link.generation, link.generation_max, "generation ", evidence);
    if (!is_told(o.evidence.plan, gpu.pci_address)) {
      add_below(link.width, link.width_max, "x", evidence);
    }
    if (evidence.empty()) continue;
    notes.push_back({"the PCIe link of GPU " + gpu.pci_address + " was below what it can be",
                     evidence + ", under load",
                     "reseat the board or cable; look at the slot's wiring"});
  }
  const Measured<StorageFacts>& storage = o.report.storage.data;
  if (!storage.has_value() || !storage.value->disks.has_value()) return notes;
  for (const StorageDisk& disk : *storage.value->disks) {
    std::string evidence;
    add_below(disk.pcie_generation, disk.pcie_generation_max, "generation ", evidence);
    add_below(disk.pcie_width, disk.pcie_width_max, "x", evidence);
    if (evidence.empty()) continue;
    notes.push_back({"the PCIe link of the drive " + disk.name + " is below what it can be",
                     evidence, "reseat the drive or cable; look at the slot's wiring"});
  }
  return notes;
}

}  // namespace falcon::report::rules
