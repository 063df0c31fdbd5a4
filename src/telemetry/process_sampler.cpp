#include "telemetry/process_sampler.h"

#include <algorithm>

namespace falcon::telemetry {
namespace {

template <class T>
Reading to_reading(const Measured<T>& measured) {
  return measured.has_value() ? Reading::of(static_cast<double>(*measured))
                              : Reading::none(measured.reason);
}

ProcessTelemetry& entry(std::vector<ProcessTelemetry>& entries, const WatchedProcess& process) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const auto& one) { return one.pid == process.pid; });
  if (found != entries.end()) return *found;
  ProcessTelemetry& added = entries.emplace_back();
  added.pid = process.pid;
  added.name = process.name;
  return added;
}

}  // namespace

ProcessSampler::ProcessSampler(const char* name, ProcessPart part, platform::Root root,
                               std::vector<WatchedProcess> processes, const std::string& disabled)
    : Sampler(name, "workers", "host"),
      part_(part),
      root_(std::move(root)),
      processes_(std::move(processes)) {
  for (const WatchedProcess& process : processes_) {
    const auto add = [&](Metric metric) {
      metric.scope = process.name;
      metrics_.push_back(std::move(metric));
    };
    if (part_ == ProcessPart::kCpu) {
      add({.name = "cpu_pct", .kind = MetricKind::kCounter, .scale = 100});
    } else if (part_ == ProcessPart::kMemory) {
      add({.name = "rss_bytes"});
      add({.name = "page_faults_per_s", .kind = MetricKind::kCounter});
      add({.name = "major_page_faults_per_s",
           .kind = MetricKind::kCounter,
           .direction = Direction::kLowerIsBetter});
    } else {
      add({.name = "process_read_bytes_per_s", .kind = MetricKind::kCounter});
      add({.name = "process_write_bytes_per_s", .kind = MetricKind::kCounter});
    }
  }
  std::vector<Reading> probe(metrics_.size(), Reading::none(disabled));
  if (disabled.empty()) read(probe);
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (!probe[i].value) metrics_[i].missing = probe[i].reason;
  }
}

std::size_t ProcessSampler::per_process() const {
  switch (part_) {
    case ProcessPart::kCpu:
      return 1;
    case ProcessPart::kMemory:
      return 3;
    case ProcessPart::kStorage:
      return 2;
  }
  return 0;
}

std::string ProcessSampler::read(std::span<Reading> out) {
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    const std::span<Reading> own = out.subspan(i * per_process(), per_process());
    if (part_ == ProcessPart::kStorage) {
      const platform::ProcessTraffic traffic = platform::process_traffic(root_, processes_[i].pid);
      own[0] = to_reading(traffic.read_bytes);
      own[1] = to_reading(traffic.write_bytes);
    } else {
      const platform::ProcessUsage usage = platform::process_usage(root_, processes_[i].pid);
      own[0] = part_ == ProcessPart::kCpu ? to_reading(usage.cpu_s) : to_reading(usage.rss_bytes);
      if (part_ == ProcessPart::kCpu) continue;
      own[1] = to_reading(usage.page_faults);
      own[2] = to_reading(usage.major_page_faults);
    }
  }
  return "";
}

void ProcessSampler::place(std::span<const MetricResult> results, Telemetry& out) const {
  HostTelemetry& host = out.utilization.host;
  if (processes_.empty()) {
    const std::string reason = "no worker was watched";
    host.processes = Measured<std::vector<ProcessTelemetry>>::missing(reason);
    host.processes_cpu_s = Measured<double>::missing(reason);
    host.processes_rss_peak_bytes = Measured<std::int64_t>::missing(reason);
    return;
  }
  if (!host.processes.has_value()) host.processes = std::vector<ProcessTelemetry>();
  Measured<double> cpu_s = 0.0;
  Measured<std::int64_t> rss_bytes = std::int64_t{0};
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    ProcessTelemetry& process = entry(*host.processes.value, processes_[i]);
    const std::span<const MetricResult> own = results.subspan(i * per_process(), per_process());
    if (part_ == ProcessPart::kCpu) {
      process.cpu_pct = own[0].summary;
      process.cpu_s = own[0].total;
      if (process.cpu_s.has_value()) *process.cpu_s.value /= 100;
      if (!process.cpu_s.has_value()) cpu_s = process.cpu_s;
      if (cpu_s.has_value()) *cpu_s.value += *process.cpu_s;
    } else if (part_ == ProcessPart::kMemory) {
      process.rss_bytes = own[0].summary;
      process.page_faults_per_s = own[1].summary;
      process.major_page_faults_per_s = own[2].summary;
      if (!own[0].summary.has_value()) {
        rss_bytes = Measured<std::int64_t>::missing(own[0].summary.reason);
      } else if (rss_bytes.has_value()) {
        *rss_bytes.value += static_cast<std::int64_t>(own[0].summary.value->max);
      }
    } else {
      process.read_bytes = own[0].total;
      process.write_bytes = own[1].total;
    }
  }
  if (part_ == ProcessPart::kCpu) host.processes_cpu_s = cpu_s;
  if (part_ == ProcessPart::kMemory) host.processes_rss_peak_bytes = rss_bytes;
}

}  // namespace falcon::telemetry
