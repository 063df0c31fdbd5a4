#include "telemetry/gpu_sampler.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace falcon::telemetry {
namespace {

using platform::NvmlResult;
namespace nvml = platform::nvml;

// NVML_FI_DEV_*. 186 is the power now (the usage call is a 1 s average on newer boards), mW; 83 is
// energy since driver load, mJ.
constexpr unsigned kFieldPowerInstant = 186;
constexpr unsigned kFieldEnergy = 83;

enum Index : std::size_t {
  kBusy,
  kMemoryBusy,
  kMemoryUsed,
  kPower,
  kEnergy,
  kSmClock,
  kMemoryClock,
  kTemperature,
  kNumPlain,
};

// Why clocks are low: the bit of nvmlDeviceGetCurrentClocksEventReasons (one instant) and, where
// the driver keeps one, the field that counts the nanoseconds.
struct ThrottleReason {
  const char* name;
  std::uint64_t bit;
  unsigned field;  // 0: none
};
constexpr ThrottleReason kReasons[] = {
    {"idle", 0x1, 0},          {"application_clocks", 0x2, 0}, {"sw_power_cap", 0x4, 74},
    {"hw_slowdown", 0x8, 0},   {"sync_boost", 0x10, 76},       {"sw_thermal", 0x20, 269},
    {"hw_thermal", 0x40, 270}, {"hw_power_brake", 0x80, 271},  {"display_clock", 0x100, 0},
};
constexpr std::size_t kNumReasons = std::size(kReasons);
// After the plain metrics: one counter a reason, one sampled share a reason, and the bits that
// newer drivers have.
constexpr std::size_t kFirstCounter = kNumPlain;
constexpr std::size_t kFirstSampled = kFirstCounter + kNumReasons;
constexpr std::size_t kUnknownBits = kFirstSampled + kNumReasons;
constexpr std::size_t kNumMetrics = kUnknownBits + 1;

std::vector<Metric> make_metrics() {
  std::vector<Metric> metrics = {
      {.name = "gpu_busy_pct", .direction = Direction::kHigherIsBetter},
      {.name = "memory_busy_pct"},
      {.name = "memory_used_bytes"},
      {.name = "power_w"},
      {.name = "energy_j", .kind = MetricKind::kCounter, .series = false},
      {.name = "sm_clock_mhz", .direction = Direction::kHigherIsBetter},
      {.name = "memory_clock_mhz"},
      {.name = "temperature_c", .direction = Direction::kLowerIsBetter}};
  const auto share = [](std::string name, MetricKind kind, double scale) {
    return Metric{.name = std::move(name),
                  .kind = kind,
                  .direction = Direction::kLowerIsBetter,
                  .scale = scale,
                  .series = false};
  };
  for (const ThrottleReason& reason : kReasons) {
    metrics.push_back(
        share(std::string("throttled_pct ") + reason.name, MetricKind::kCounter, 100 * 1e-9));
  }
  for (const ThrottleReason& reason : kReasons) {
    metrics.push_back(
        share(std::string("seen_throttled_pct ") + reason.name, MetricKind::kGauge, 100));
  }
  metrics.push_back(share("seen_throttled_pct other", MetricKind::kGauge, 100));
  return metrics;
}

template <class T, class Convert>
NvmlResult<double> part(const NvmlResult<T>& whole, Convert convert) {
  if (!whole.has_value()) return {{}, whole.code, whole.reason};
  return {static_cast<double>(convert(*whole)), whole.code, ""};
}

}  // namespace

NvmlResult<platform::NvmlDevice> WatchedGpu::open() const {
  if (!nvml) return {{}, nvml::kDriverNotLoaded, "NVML is not open"};
  return nvml->device_by_uuid(uuid);
}

GpuTelemetry& gpu_entry(Telemetry& out, const WatchedGpu& gpu) {
  std::vector<GpuTelemetry>& gpus = out.utilization.gpus;
  const auto found = std::find_if(gpus.begin(), gpus.end(),
                                  [&gpu](const auto& one) { return one.uuid == gpu.uuid; });
  if (found != gpus.end()) return *found;
  GpuTelemetry& added = gpus.emplace_back();
  added.uuid = gpu.uuid;
  added.pci_address = gpu.pci_address;
  return added;
}

GpuSampler::GpuSampler(const char* name, WatchedGpu gpu, const std::string& disabled)
    : Sampler(name, gpu.uuid, "board " + gpu.uuid), gpu_(std::move(gpu)), metrics_(make_metrics()) {
  std::string reason = disabled;
  if (reason.empty()) {
    const auto opened = gpu_.open();
    device_ = opened.value;
    reason = opened.reason;
  }
  if (!device_) {
    for (Metric& metric : metrics_) metric.missing = reason;
    return;
  }
  const std::vector<Number> probe = ask();
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (probe[i].is_permanent()) metrics_[i].missing = probe[i].reason;
  }
}

std::vector<GpuSampler::Number> GpuSampler::ask() {
  std::vector<Number> out(kNumMetrics);
  ask_board(out);
  ask_fields(out);
  ask_reasons(out);
  return out;
}

void GpuSampler::ask_board(std::vector<Number>& out) const {
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
}

void GpuSampler::ask_fields(std::vector<Number>& out) const {
  std::vector<unsigned> ids = {kFieldPowerInstant, kFieldEnergy};
  std::vector<std::size_t> metrics = {kPower, kEnergy};
  for (std::size_t i = 0; i < kNumReasons; ++i) {
    if (kReasons[i].field == 0) {
      out[kFirstCounter + i] = {{}, nvml::kNotSupported, "the driver does not count this"};
    } else if (is_wanted(kFirstCounter + i)) {
      ids.push_back(kReasons[i].field);
      metrics.push_back(kFirstCounter + i);
    }
  }
  const std::vector<Number> values = device_->fields(ids);
  for (std::size_t i = 0; i < values.size(); ++i) out[metrics[i]] = values[i];
  // Both older forms are asked for only where the board has no such field.
  const auto milli = [](double raw) { return 1e-3 * raw; };
  out[kPower] = out[kPower].is_permanent() ? device_->power_w() : part(out[kPower], milli);
  out[kEnergy] = out[kEnergy].is_permanent() ? device_->energy_j() : part(out[kEnergy], milli);
}

void GpuSampler::ask_reasons(std::vector<Number>& out) {
  if (!is_wanted(kUnknownBits)) return;
  const auto reasons = device_->event_reasons();
  std::uint64_t known = 0;
  for (std::size_t i = 0; i < kNumReasons; ++i) {
    const std::uint64_t bit = kReasons[i].bit;
    known |= bit;
    out[kFirstSampled + i] = part(reasons, [bit](auto bits) { return (bits & bit) != 0 ? 1 : 0; });
  }
  if (reasons.has_value()) unknown_bits_ |= *reasons & ~known;
  out[kUnknownBits] = part(reasons, [known](auto bits) { return (bits & ~known) != 0 ? 1 : 0; });
}

std::string GpuSampler::read(std::span<Reading> out) {
  const std::vector<Number> numbers = ask();
  std::string lost;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!is_wanted(i)) continue;
    out[i] = numbers[i].has_value() ? Reading::of(*numbers[i]) : Reading::none(numbers[i].reason);
    if (numbers[i].is_lost() && lost.empty()) {
      lost = "the GPU at " + gpu_.pci_address + " is lost: " + numbers[i].reason;
    }
  }
  return lost;
}

Measured<std::vector<ThrottleShare>> GpuSampler::throttle(
    std::span<const MetricResult> results) const {
  std::vector<ThrottleShare> shares;
  bool is_any = false;
  const auto add = [&](const std::string& name, const Summary& summary, const char* basis) {
    is_any = true;
    if (summary.mean > 0) shares.push_back({name, std::min(100.0, summary.mean), basis});
  };
  for (std::size_t i = 0; i < kNumReasons; ++i) {
    const MeasuredSummary& counted = results[kFirstCounter + i].summary;
    const MeasuredSummary& sampled = results[kFirstSampled + i].summary;
    if (counted.has_value()) {
      add(kReasons[i].name, *counted, "counter");
    } else if (sampled.has_value()) {
      add(kReasons[i].name, *sampled, "sampled");
    }
  }
  const MeasuredSummary& other = results[kUnknownBits].summary;
  if (other.has_value()) {
    char name[32];
    std::snprintf(name, sizeof name, "other_0x%llx",
                  static_cast<unsigned long long>(unknown_bits_.load()));
    add(name, *other, "sampled");
  }
  if (!is_any) return Measured<std::vector<ThrottleShare>>::missing(other.reason);
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.share_pct > b.share_pct; });
  return shares;
}

void GpuSampler::place(std::span<const MetricResult> results, Telemetry& out) const {
  GpuTelemetry& gpu = gpu_entry(out, gpu_);
  gpu.gpu_busy_pct = results[kBusy].summary;
  gpu.memory_busy_pct = results[kMemoryBusy].summary;
  gpu.memory_used_bytes = results[kMemoryUsed].summary;
  gpu.memory_peak_bytes = Measured<std::int64_t>::missing(gpu.memory_used_bytes.reason);
  if (gpu.memory_used_bytes.has_value()) {
    gpu.memory_peak_bytes = static_cast<std::int64_t>(gpu.memory_used_bytes.value->max);
  }
  gpu.power_w = results[kPower].summary;
  gpu.energy_j = results[kEnergy].total;
  gpu.sm_clock_mhz = results[kSmClock].summary;
  gpu.memory_clock_mhz = results[kMemoryClock].summary;
  gpu.temperature_c = results[kTemperature].summary;
  gpu.throttle = throttle(results);
}

}  // namespace falcon::telemetry
