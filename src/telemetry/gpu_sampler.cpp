#include "telemetry/gpu_sampler.h"

#include <array>
#include <cstdio>
#include <string>

#include "telemetry/counts.h"
#include "telemetry/throttle.h"

namespace falcon::telemetry {
namespace {

namespace nvml = platform::nvml;

// NVML_FI_DEV_*. 186 is the power now, mW (the usage call is a 1 s average on newer boards); 82 the
// temperature of the memory.
constexpr unsigned kFieldPowerInstant = 186;
constexpr unsigned kFieldMemoryTemperature = 82;

enum Index : std::size_t {
  kBusy,
  kMemoryBusy,
  kMemoryUsed,
  kPower,
  kSmClock,
  kMemoryClock,
  kTemperature,
  kMemoryTemperature,
  kFirstReason,
};

std::vector<Metric> plain_metrics() {
  return {
      {.name = "gpu_busy_pct", .direction = Direction::kHigherIsBetter},
      {.name = "memory_busy_pct"},
      {.name = "memory_used_bytes"},
      {.name = "power_w"},
      {.name = "sm_clock_mhz", .direction = Direction::kHigherIsBetter},
      {.name = "memory_clock_mhz"},
      {.name = "temperature_c", .direction = Direction::kLowerIsBetter},
      {.name = "memory_temperature_c", .direction = Direction::kLowerIsBetter, .is_rare = true}};
}

}  // namespace

GpuSampler::GpuSampler(const char* name, WatchedGpu gpu, std::uint64_t counted,
                       const std::string& disabled)
    : Sampler(name, gpu.uuid, "board " + gpu.uuid),
      gpu_(std::move(gpu)),
      metrics_(plain_metrics()) {
  const auto add = [this](const std::string& reason) {
    metrics_.push_back({.name = "seen_throttled_pct " + reason,
                        .direction = Direction::kLowerIsBetter,
                        .scale = 100,
                        .series = false});
  };
  for (std::size_t i = 0; i < throttle_reasons().size(); ++i) {
    if ((throttle_reasons()[i].bit & counted) != 0) continue;
    sampled_.push_back(i);
    add(throttle_reasons()[i].name);
  }
  add("other");
  device_ = gpu_.open_or_mark(disabled, metrics_);
  if (device_) mark_unsupported(ask(), metrics_);
}

std::vector<NvmlNumber> GpuSampler::ask() {
  std::vector<NvmlNumber> out(metrics_.size());
  if (is_wanted(kBusy)) {
    const auto rates = device_->utilization();
    out[kBusy] = part(rates, [](const auto& both) { return both.gpu_pct; });
    out[kMemoryBusy] = part(rates, [](const auto& both) { return both.memory_pct; });
  }
  if (is_wanted(kMemoryUsed)) {
    out[kMemoryUsed] =
        part(device_->memory(), [](const auto& memory) { return memory.used_bytes; });
  }
  if (is_wanted(kSmClock)) out[kSmClock] = device_->clock_mhz(nvml::kClockSm);
  if (is_wanted(kMemoryClock)) out[kMemoryClock] = device_->clock_mhz(nvml::kClockMemory);
  if (is_wanted(kTemperature)) out[kTemperature] = device_->temperature_c();
  ask_fields(out);
  ask_reasons(out);
  return out;
}

void GpuSampler::ask_fields(std::vector<NvmlNumber>& out) const {
  constexpr std::array<unsigned, 2> kFields = {kFieldPowerInstant, kFieldMemoryTemperature};
  const std::vector<NvmlNumber> values = device_->fields(kFields);
  // The older form is asked for only where the board has no such field.
  out[kPower] = values[0].is_permanent() ? device_->power_w()
                                         : part(values[0], [](double raw) { return 1e-3 * raw; });
  out[kMemoryTemperature] = values[1];
}

void GpuSampler::ask_reasons(std::vector<NvmlNumber>& out) {
  if (!is_wanted(metrics_.size() - 1)) return;
  const auto reasons = device_->event_reasons();
  std::uint64_t known = 0;
  for (const ThrottleReason& reason : throttle_reasons()) known |= reason.bit;
  for (std::size_t i = 0; i < sampled_.size(); ++i) {
    const std::uint64_t bit = throttle_reasons()[sampled_[i]].bit;
    out[kFirstReason + i] = part(reasons, [bit](auto bits) { return (bits & bit) != 0 ? 1 : 0; });
  }
  if (reasons.has_value()) unknown_bits_ |= *reasons & ~known;
  out.back() = part(reasons, [known](auto bits) { return (bits & ~known) != 0 ? 1 : 0; });
}

std::string GpuSampler::read(std::span<Reading> out) {
  return set_readings(gpu_, metrics_, ask(), out);
}

void GpuSampler::place(std::span<const MetricResult> results, Telemetry& out) const {
  GpuTelemetry& gpu = gpu_entry(out, gpu_);
  gpu.gpu_busy_pct = results[kBusy].summary;
  gpu.memory_busy_pct = results[kMemoryBusy].summary;
  gpu.memory_used_bytes = results[kMemoryUsed].summary;
  gpu.memory_peak_bytes = largest(results[kMemoryUsed]);
  gpu.power_w = results[kPower].summary;
  gpu.sm_clock_mhz = results[kSmClock].summary;
  gpu.memory_clock_mhz = results[kMemoryClock].summary;
  gpu.temperature_c = results[kTemperature].summary;
  gpu.memory_temperature_c = results[kMemoryTemperature].summary;
  for (std::size_t i = 0; i < sampled_.size(); ++i) {
    add_throttle(throttle_reasons()[sampled_[i]].name, results[kFirstReason + i], "sampled", gpu);
  }
  char other[32];
  std::snprintf(other, sizeof other, "other_0x%llx",
                static_cast<unsigned long long>(unknown_bits_.load()));
  add_throttle(other, results.back(), "sampled", gpu);
}

}  // namespace falcon::telemetry
