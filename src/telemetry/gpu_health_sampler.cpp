#include "telemetry/gpu_health_sampler.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "telemetry/counts.h"

namespace falcon::telemetry {
namespace {

namespace nvml = platform::nvml;

// In the order of kFields, then what has calls of its own.
enum Index : std::size_t {
  kRetirementPending,
  kRemappedCorrected,
  kRemappedUncorrected,
  kRemapPending,
  kRemapFailed,
  kEccCorrected,
  kEccUncorrected,
  kPowerLimit,
  kPowerLimitDefault,
  kSmClockMax,
  kGenerationMax,
  kWidthMax,
  kForeign,
};
constexpr std::array<unsigned, 5> kFields = {31, 142, 143, 144, 145};  // NVML_FI_DEV_*

std::vector<Metric> make_metrics() {
  std::vector<Metric> metrics;
  for (const char* name :
       {"page_retirement_pending", "remapped_rows_corrected", "remapped_rows_uncorrected",
        "remap_pending", "remap_failed", "ecc_corrected", "ecc_uncorrected", "power_limit_w",
        "power_limit_default_w", "sm_clock_max_mhz", "pcie_generation_max", "pcie_width_max",
        "foreign_processes"}) {
    metrics.push_back({.name = name, .series = false});
  }
  // Boards replace rows or retire pages, and some have no ECC.
  for (std::size_t i = 0; i <= kEccUncorrected; ++i) metrics[i].is_rare = true;
  return metrics;
}

Measured<bool> is_set(const MetricResult& result) {
  const Measured<std::int64_t> flag = largest(result);
  return flag.has_value() ? Measured<bool>(*flag != 0) : Measured<bool>::missing(flag.reason);
}

Measured<double> smallest(const MetricResult& result) {
  return result.summary.has_value() ? Measured<double>(result.summary.value->min)
                                    : Measured<double>::missing(result.summary.reason);
}

}  // namespace

GpuHealthSampler::GpuHealthSampler(const char* name, WatchedGpu gpu,
                                   std::vector<std::int64_t> own_pids, platform::Root root,
                                   const std::string& disabled)
    : Sampler(name, gpu.uuid, "counters " + gpu.uuid),
      gpu_(std::move(gpu)),
      own_pids_(std::move(own_pids)),
      root_(std::move(root)),
      metrics_(make_metrics()),
      device_(gpu_.open_or_mark(disabled, metrics_)),
      not_judged_(device_ ? "the processes of the GPU were not read" : metrics_.front().missing) {
  if (device_) mark_unsupported(ask(), metrics_);
}

std::vector<NvmlNumber> GpuHealthSampler::ask() {
  const auto same = [](int number) { return number; };
  std::vector<NvmlNumber> out = device_->fields(kFields);
  out.resize(metrics_.size());
  out[kEccCorrected] = device_->ecc_errors(nvml::kEccCorrected);
  out[kEccUncorrected] = device_->ecc_errors(nvml::kEccUncorrected);
  out[kPowerLimit] = device_->power_limit_w();
  out[kPowerLimitDefault] = device_->power_limit_default_w();
  out[kSmClockMax] = device_->clock_max_mhz(nvml::kClockSm);
  out[kGenerationMax] = part(device_->pcie_generation_max(), same);
  out[kWidthMax] = part(device_->pcie_width_max(), same);
  out[kForeign] = count_foreign();
  return out;
}

// In a container the driver lists pids of the host, or none: then nobody can be told from us. That
// shows by our own process, which must be there while it trains.
NvmlNumber GpuHealthSampler::count_foreign() {
  const auto listed = device_->processes();
  const std::lock_guard lock(mutex_);
  if (!listed.has_value()) {
    not_judged_ = listed.reason;
    return {{}, listed.code, listed.reason};
  }
  const auto is_own = [this](const platform::NvmlProcess& process) {
    return std::find(own_pids_.begin(), own_pids_.end(), process.pid) != own_pids_.end();
  };
  if (std::none_of(listed.value->begin(), listed.value->end(), is_own)) {
    const char* const why = "the driver does not list this run's own processes, as in a container";
    if (!not_judged_.empty()) not_judged_ = why;
    return {{}, nvml::kSuccess, why};
  }
  not_judged_.clear();
  double count = 0;
  for (const platform::NvmlProcess& process : *listed.value) {
    if (is_own(process)) continue;
    ++count;
    GpuProcess& seen = foreign_[process.pid];
    seen.pid = process.pid;
    seen.memory_bytes = process.memory_bytes;
    const auto name = root_.text("proc/" + std::to_string(process.pid) + "/comm");
    if (name.has_value()) seen.name = *name;
  }
  return {count, nvml::kSuccess, ""};
}

std::string GpuHealthSampler::read(std::span<Reading> out) {
  return set_readings(gpu_, metrics_, ask(), out);
}

void GpuHealthSampler::place(std::span<const MetricResult> results, Telemetry& out) const {
  GpuTelemetry& gpu = gpu_entry(out, gpu_);
  GpuMemoryHealth& health = gpu.memory_health;
  health.ecc_corrected = largest(results[kEccCorrected]);
  health.ecc_uncorrected = largest(results[kEccUncorrected]);
  health.new_ecc_corrected = growth(results[kEccCorrected]);
  health.new_ecc_uncorrected = growth(results[kEccUncorrected]);
  health.remapped_rows_corrected = largest(results[kRemappedCorrected]);
  health.remapped_rows_uncorrected = largest(results[kRemappedUncorrected]);
  health.remap_pending = is_set(results[kRemapPending]);
  health.remap_failed = is_set(results[kRemapFailed]);
  health.page_retirement_pending = is_set(results[kRetirementPending]);
  gpu.power_limit_w = smallest(results[kPowerLimit]);
  gpu.power_limit_default_w = smallest(results[kPowerLimitDefault]);
  gpu.sm_clock_max_mhz = smallest(results[kSmClockMax]);
  gpu.pcie_link.generation_max = largest(results[kGenerationMax]);
  gpu.pcie_link.width_max = largest(results[kWidthMax]);
  const std::lock_guard lock(mutex_);
  if (!not_judged_.empty()) {
    gpu.foreign_processes = Measured<std::vector<GpuProcess>>::missing(not_judged_);
    return;
  }
  gpu.foreign_processes = std::vector<GpuProcess>();
  for (const auto& [pid, process] : foreign_) gpu.foreign_processes.value->push_back(process);
}

}  // namespace falcon::telemetry
