#include "telemetry/memory_sampler.h"

#include <string_view>
#include <utility>

namespace falcon::telemetry {
namespace {

enum Index : std::size_t { kUsed, kAvailable, kFaults, kMajorFaults };

Reading counter(const Measured<std::string>& text, std::string_view word) {
  if (!text.has_value()) return Reading::none(text.reason);
  const auto number = platform::number_after(*text, word);
  if (!number.has_value()) return Reading::none("/proc/vmstat: " + number.reason);
  return Reading::of(static_cast<double>(*number));
}

}  // namespace

MemorySampler::MemorySampler(const char* name, platform::Root root, const std::string& disabled)
    : Sampler(name, "host", "host"), root_(std::move(root)) {
  metrics_ = {Metric{.name = "memory_used_bytes"}, Metric{.name = "memory_available_bytes"},
              Metric{.name = "page_faults_per_s", .kind = MetricKind::kCounter},
              Metric{.name = "major_page_faults_per_s",
                     .kind = MetricKind::kCounter,
                     .direction = Direction::kLowerIsBetter}};
  std::vector<Reading> probe(metrics_.size(), Reading::none(disabled));
  if (disabled.empty()) read(probe);
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (!probe[i].value) metrics_[i].missing = probe[i].reason;
  }
}

std::string MemorySampler::read(std::span<Reading> out) {
  const auto meminfo = root_.read("proc/meminfo");
  if (meminfo.has_value()) {
    const auto total_kib = platform::number_after(*meminfo, "MemTotal:");
    const auto available_kib = platform::number_after(*meminfo, "MemAvailable:");
    const std::string reason = "/proc/meminfo has no MemTotal or MemAvailable";
    out[kUsed] = out[kAvailable] = Reading::none(reason);
    if (total_kib.has_value() && available_kib.has_value()) {
      out[kUsed] = Reading::of(1024.0 * static_cast<double>(*total_kib - *available_kib));
      out[kAvailable] = Reading::of(1024.0 * static_cast<double>(*available_kib));
    }
  } else {
    out[kUsed] = out[kAvailable] = Reading::none(meminfo.reason);
  }
  const auto vmstat = root_.read("proc/vmstat");
  out[kFaults] = counter(vmstat, "pgfault");
  out[kMajorFaults] = counter(vmstat, "pgmajfault");
  return "";
}

void MemorySampler::place(std::span<const MetricResult> results, Telemetry& out) const {
  HostTelemetry& host = out.utilization.host;
  host.memory_used_bytes = results[kUsed].summary;
  host.memory_available_bytes = results[kAvailable].summary;
  host.page_faults_per_s = results[kFaults].summary;
  host.major_page_faults_per_s = results[kMajorFaults].summary;
}

}  // namespace falcon::telemetry
