#include "telemetry/cpu_sampler.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "platform/cgroup.h"
#include "platform/cpus.h"

namespace falcon::telemetry {
namespace {

enum Index : std::size_t {
  kBusy,
  kIowait,
  kSteal,
  kRunQueue,
  kLoadAverage,
  kThrottled,
  kFirstCore
};

// Ticks of one line of /proc/stat. Guest time is part of user and nice and not added again. Steal
// is neither busy nor idle: the host wanted it and did not get it.
struct Times {
  double busy = 0, iowait = 0, steal = 0, total = 0;
};

std::optional<Times> parse_times(std::string_view line) {
  std::array<std::uint64_t, 8> ticks{};  // user nice system idle iowait irq softirq steal
  const char* at = line.data();
  const char* const end = line.data() + line.size();
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    while (at < end && *at == ' ') ++at;
    const auto [next, error] = std::from_chars(at, end, ticks[i]);
    if (error != std::errc()) {
      if (i >= 4) break;  // kernels before 2.6 stop after idle
      return {};
    }
    at = next;
  }
  Times times;
  times.busy = static_cast<double>(ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]);
  times.iowait = static_cast<double>(ticks[4]);
  times.steal = static_cast<double>(ticks[7]);
  times.total = times.busy + times.iowait + times.steal + static_cast<double>(ticks[3]);
  return times;
}

}  // namespace

CpuSampler::CpuSampler(const char* name, platform::Root root, const std::string& disabled)
    : Sampler(name, "host", "host"), root_(std::move(root)) {
  const auto share = [](std::string metric) {
    return Metric{.name = std::move(metric),
                  .kind = MetricKind::kRatio,
                  .scale = 100,
                  .when_idle = "/proc/stat stands still"};
  };
  metrics_ = {share("cpu_pct"),
              share("cpu_iowait_pct"),
              share("cpu_steal_pct"),
              Metric{.name = "run_queue", .direction = Direction::kLowerIsBetter},
              Metric{.name = "load_average", .direction = Direction::kLowerIsBetter},
              Metric{.name = "cpu_throttled_s",
                     .kind = MetricKind::kCounter,
                     .direction = Direction::kLowerIsBetter,
                     .series = false}};
  if (!disabled.empty()) {
    for (Metric& metric : metrics_) metric.missing = disabled;
    return;
  }
  const platform::CgroupLimits limits = platform::cgroup_limits(root_);
  cpu_stat_ = limits.cpu_stat;
  metrics_[kThrottled].is_rare = limits.quota_cpus.reason == platform::kNoQuota;
  cores_ = platform::online_cpus(root_);
  for (const int cpu : cores_) {
    Metric core = share("cpu_core_busy_pct");
    core.scope = "cpu" + std::to_string(cpu);
    core.series = false;  // with hundreds of cores the report would hold little else
    metrics_.push_back(std::move(core));
  }
  std::vector<Reading> probe(metrics_.size());
  read(probe);
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (!probe[i].value) metrics_[i].missing = probe[i].reason;
  }
}

void CpuSampler::read_times(std::span<Reading> out) const {
  const auto text = root_.read("proc/stat");
  const std::string reason = text.has_value() ? "/proc/stat has no such line" : text.reason;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i != kThrottled && i != kLoadAverage) out[i] = Reading::none(reason);
  }
  if (!text.has_value()) return;
  const auto running = platform::number_after(*text, "procs_running");
  if (running.has_value()) out[kRunQueue] = Reading::of(static_cast<double>(*running));
  std::string_view rest = *text;
  std::size_t core = 0;  // cores_ and the file are both in rising order
  while (rest.starts_with("cpu")) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(3, end - 3);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t blank = std::min(line.find(' '), line.size());
    const auto times = parse_times(line.substr(blank));
    if (!times) continue;
    if (blank == 0) {
      out[kBusy] = Reading::of(times->busy, times->total);
      out[kIowait] = Reading::of(times->iowait, times->total);
      out[kSteal] = Reading::of(times->steal, times->total);
      continue;
    }
    int cpu = -1;
    std::from_chars(line.data(), line.data() + blank, cpu);
    while (core < cores_.size() && cores_[core] < cpu) ++core;
    if (core < cores_.size() && cores_[core] == cpu) {
      out[kFirstCore + core] = Reading::of(times->busy, times->total);
    }
  }
}

Reading CpuSampler::read_load_average() const {
  const auto file = root_.text("proc/loadavg");
  if (!file.has_value()) return Reading::none(file.reason);
  const std::string& text = *file;
  double minute = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), minute);
  if (error != std::errc()) return Reading::none("/proc/loadavg does not begin with a number");
  return Reading::of(minute);
}

Reading CpuSampler::read_throttled() const {
  if (cpu_stat_.empty()) return Reading::none("no control group files are visible");
  const auto text = root_.read(cpu_stat_);
  if (!text.has_value()) return Reading::none(text.reason);
  if (const auto us = platform::number_after(*text, "throttled_usec"); us.has_value()) {
    return Reading::of(1e-6 * static_cast<double>(*us));
  }
  if (const auto ns = platform::number_after(*text, "throttled_time"); ns.has_value()) {
    return Reading::of(1e-9 * static_cast<double>(*ns));
  }
  return Reading::none("/" + cpu_stat_ + " tells no throttled time" +
                       (metrics_[kThrottled].is_rare ? ": there is no quota" : ""));
}

std::string CpuSampler::read(std::span<Reading> out) {
  read_times(out);
  out[kLoadAverage] = read_load_average();
  if (metrics_[kThrottled].missing.empty()) out[kThrottled] = read_throttled();
  return "";
}

void CpuSampler::place(std::span<const MetricResult> results, Telemetry& out) const {
  HostTelemetry& host = out.utilization.host;
  host.cpu_pct = results[kBusy].summary;
  host.cpu_iowait_pct = results[kIowait].summary;
  host.cpu_steal_pct = results[kSteal].summary;
  host.run_queue = results[kRunQueue].summary;
  host.load_average = results[kLoadAverage].summary;
  host.cpu_throttled_s = results[kThrottled].total;
  std::vector<CoreTelemetry> cores;
  bool is_any = false;
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    cores.push_back({cores_[i], results[kFirstCore + i].summary});
    is_any = is_any || cores.back().busy_pct.has_value();
  }
  host.cpu_cores = Measured<std::vector<CoreTelemetry>>::missing(
      results[results.size() > kFirstCore ? kFirstCore : kBusy].summary.reason);
  if (is_any) host.cpu_cores = std::move(cores);
}

}  // namespace falcon::telemetry
