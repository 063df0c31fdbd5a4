#include "telemetry/gpu_counter_sampler.h"

#include <array>
#include <string>

#include "telemetry/counts.h"
#include "telemetry/throttle.h"

namespace falcon::telemetry {
namespace {

namespace nvml = platform::nvml;

// NVML_FI_DEV_*: energy since driver load, mJ; PCIe packets sent again, times a link was trained.
constexpr unsigned kFieldEnergy = 83;
constexpr unsigned kFieldReplays = 94;
constexpr unsigned kFieldRecoveries = 169;
// Payload of all NVLinks, without protocol, KiB. 138 is what the GPU sends.
constexpr std::array<unsigned, 2> kFieldsNvlink = {139, 138};
// The same of NVLink 5, bytes.
constexpr std::array<unsigned, 2> kFieldsNvlink5 = {204, 202};

enum Index : std::size_t {
  kEnergy,
  kReplays,
  kRecoveries,
  kNvlinkRx,
  kNvlinkTx,
  kGeneration,
  kWidth,
  kFirstReason,
};

std::vector<Metric> make_metrics() {
  std::vector<Metric> metrics = {
      {.name = "energy_j", .kind = MetricKind::kCounter, .scale = 1e-3, .series = false},
      {.name = "pcie_replays", .series = false},
      {.name = "pcie_recoveries", .series = false, .is_rare = true},
      {.name = "nvlink_rx_bytes_per_s", .kind = MetricKind::kCounter, .is_rare = true},
      {.name = "nvlink_tx_bytes_per_s", .kind = MetricKind::kCounter, .is_rare = true},
      {.name = "pcie_generation", .direction = Direction::kHigherIsBetter},
      {.name = "pcie_width", .direction = Direction::kHigherIsBetter}};
  for (const ThrottleReason& reason : throttle_reasons()) {
    if (reason.field == 0) continue;
    metrics.push_back({.name = std::string("throttled_pct ") + reason.name,
                       .kind = MetricKind::kCounter,
                       .direction = Direction::kLowerIsBetter,
                       .scale = 100 * 1e-9,
                       .series = false,
                       .is_rare = true});  // then it is sampled
  }
  return metrics;
}

NvmlNumber times(const NvmlNumber& number, double scale) {
  return part(number, [scale](double raw) { return scale * raw; });
}

}  // namespace

GpuCounterSampler::GpuCounterSampler(const char* name, WatchedGpu gpu, const std::string& disabled)
    : Sampler(name, gpu.uuid, "counters " + gpu.uuid),
      gpu_(std::move(gpu)),
      metrics_(make_metrics()),
      device_(gpu_.open_or_mark(disabled, metrics_)) {
  if (device_) mark_unsupported(ask(), metrics_);
}

std::uint64_t GpuCounterSampler::counted() const {
  std::uint64_t bits = 0;
  std::size_t metric = kFirstReason;
  for (const ThrottleReason& reason : throttle_reasons()) {
    if (reason.field != 0 && is_wanted(metric++)) bits |= reason.bit;
  }
  return bits;
}

std::vector<NvmlNumber> GpuCounterSampler::ask() const {
  std::vector<unsigned> ids = {kFieldEnergy, kFieldReplays, kFieldRecoveries};
  std::vector<std::size_t> places = {kEnergy, kReplays, kRecoveries};
  std::size_t metric = kFirstReason;
  for (const ThrottleReason& reason : throttle_reasons()) {
    if (reason.field == 0) continue;
    ids.push_back(reason.field);
    places.push_back(metric++);
  }
  std::vector<NvmlNumber> out(metrics_.size());
  const std::vector<NvmlNumber> values = device_->fields(ids);  // one driver call
  for (std::size_t i = 0; i < values.size(); ++i) out[places[i]] = values[i];
  if (out[kEnergy].is_permanent()) out[kEnergy] = times(device_->energy_j(), 1e3);
  ask_nvlink(out);
  ask_link(out);
  return out;
}

void GpuCounterSampler::ask_nvlink(std::vector<NvmlNumber>& out) const {
  if (!is_wanted(kNvlinkRx)) return;
  constexpr double kKib = 1024;
  double scale = kKib;
  std::vector<NvmlNumber> values = device_->fields(kFieldsNvlink, nvml::kAllLinks);
  if (values[0].is_permanent() && values[1].is_permanent()) {
    const std::vector<NvmlNumber> newer = device_->fields(kFieldsNvlink5, nvml::kAllLinks);
    if (newer[0].has_value() || newer[1].has_value()) {
      values = newer;
      scale = 1;
    }
  }
  out[kNvlinkRx] = times(values[0], scale);
  out[kNvlinkTx] = times(values[1], scale);
}

// Many boards slow their link down while idle; only what it is at work says something.
void GpuCounterSampler::ask_link(std::vector<NvmlNumber>& out) const {
  if (!is_wanted(kGeneration) && !is_wanted(kWidth)) return;
  const auto load = device_->utilization();
  if (load.has_value() && load.value->gpu_pct == 0) {
    out[kGeneration] = out[kWidth] = {{}, nvml::kSuccess, "the GPU was idle whenever it was read"};
    return;
  }
  const auto same = [](int number) { return number; };
  out[kGeneration] = part(device_->pcie_generation(), same);
  out[kWidth] = part(device_->pcie_width(), same);
}

std::string GpuCounterSampler::read(std::span<Reading> out) {
  return set_readings(gpu_, metrics_, ask(), out);
}

void GpuCounterSampler::place(std::span<const MetricResult> results, Telemetry& out) const {
  GpuTelemetry& gpu = gpu_entry(out, gpu_);
  gpu.energy_j = results[kEnergy].total;
  gpu.pcie_link.generation = results[kGeneration].summary;
  gpu.pcie_link.width = results[kWidth].summary;
  gpu.pcie_link.replays = growth(results[kReplays]);
  gpu.pcie_link.recoveries = growth(results[kRecoveries]);
  // Payload goes before what GPM counts, whichever was placed first.
  const bool is_counted = results[kNvlinkRx].summary.has_value();
  if (is_counted || !gpu.nvlink_rx_bytes_per_s.has_value()) {
    gpu.nvlink_rx_bytes_per_s = results[kNvlinkRx].summary;
    gpu.nvlink_tx_bytes_per_s = results[kNvlinkTx].summary;
    gpu.nvlink_basis = is_counted
                           ? Measured<std::string>("payload")
                           : Measured<std::string>::missing(results[kNvlinkRx].summary.reason);
  }
  std::size_t metric = kFirstReason;
  for (const ThrottleReason& reason : throttle_reasons()) {
    if (reason.field != 0 && is_wanted(metric)) {
      add_throttle(reason.name, results[metric], "counter", gpu);
    }
    if (reason.field != 0) ++metric;
  }
}

}  // namespace falcon::telemetry
