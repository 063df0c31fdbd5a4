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

/// What is wrong with each source of a host, in words. where: "" or " on host NAME".
void add_gaps(const std::vector<SourceTelemetry>& sources, const HostTelemetry& host,
              const std::string& where, std::vector<std::string>& gaps) {
  for (const SourceTelemetry& source : sources) {
    const std::string name = source.sampler + " of " + source.scope + where + ": ";
    if (!source.stopped.empty()) gaps.push_back(name + source.stopped);
    for (const std::string& metric : source.unsupported) gaps.push_back(name + metric);
  }
  const MeasuredSummary& cpu = host.cpu_pct;
  if (!cpu.has_value()) gaps.push_back("host CPU" + where + ": " + cpu.reason);
}

std::vector<std::string> gaps_of(const Observation& o) {
  const Utilization& utilization = o.report.utilization;
  std::vector<std::string> gaps;
  if (utilization.gpus.empty() && !o.report.topology.gpus.empty()) {
    gaps.emplace_back("no telemetry of any GPU");
  }
  add_gaps(utilization.sources, utilization.host, "", gaps);
  for (const HostUtilization& host : utilization.hosts) {
    const std::string where = " on host " + host.name;
    if (host.window_s.has_value()) {
      add_gaps(host.sources, host.host, where, gaps);
    } else {
      gaps.push_back("all" + where + ": " + host.window_s.reason);
    }
  }
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

void add_drive_links(const PlacedStorage& storage, Notes& notes) {
  const Measured<StorageFacts>& facts = storage.figures.data;
  if (!facts.has_value() || !facts.value->disks.has_value()) return;
  for (const StorageDisk& disk : *facts.value->disks) {
    std::string evidence;
    add_below(disk.pcie_generation, disk.pcie_generation_max, "generation ", evidence);
    add_below(disk.pcie_width, disk.pcie_width_max, "x", evidence);
    if (evidence.empty()) continue;
    notes.push_back(
        {"the PCIe link of the drive " + disk.name + storage.where + " is below what it can be",
         evidence, "reseat the drive or cable; look at the slot's wiring"});
  }
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
  for (const PlacedStorage& storage : storages_of(o.report)) add_drive_links(storage, notes);
  return notes;
}

}  // namespace falcon::report::rules
