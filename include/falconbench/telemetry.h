// What the samplers saw of one run, made by telemetry::Session::result(): the report's
// `utilization` and `series`, with how well it was sampled.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "falconbench/telemetry_fabric.h"
#include "falconbench/telemetry_gpu.h"
#include "falconbench/telemetry_parts.h"

namespace falcon {

struct HostTelemetry {
  MeasuredSummary cpu_pct, cpu_iowait_pct, cpu_steal_pct;
  Measured<double> cpu_throttled_s;
  MeasuredSummary run_queue, load_average;
  Measured<std::vector<CoreTelemetry>> cpu_cores;
  MeasuredSummary memory_used_bytes, memory_available_bytes, page_faults_per_s,
      major_page_faults_per_s;
  Measured<std::vector<DiskTelemetry>> disks;
  Measured<std::string> data_disk;
  Measured<std::vector<NetworkTelemetry>> network;
  Measured<std::vector<ProcessTelemetry>> processes;
  Measured<double> processes_cpu_s;
  Measured<std::int64_t> processes_rss_peak_bytes;
};
template <class V>
void visit_fields(HostTelemetry& h, V& v) {
  v.field("cpu_pct", h.cpu_pct, "busy share of all online logical CPUs, whoever used them");
  v.field("cpu_iowait_pct", h.cpu_iowait_pct, "idle share with a storage request outstanding");
  v.field("cpu_steal_pct", h.cpu_steal_pct, "share that the hypervisor gave to others");
  v.field("cpu_throttled_s", h.cpu_throttled_s,
          "time that the container quota held threads back, summed by the kernel over CPUs");
  v.field("cpu_cores", h.cpu_cores, "each logical CPU");
  v.field("run_queue", h.run_queue, "threads that run or wait for a CPU");
  v.field("load_average", h.load_average, "the kernel's mean of one minute");
  v.field("memory_used_bytes", h.memory_used_bytes, "host memory that is not available");
  v.field("memory_available_bytes", h.memory_available_bytes, "host memory free for new work");
  v.field("page_faults_per_s", h.page_faults_per_s, "of all processes");
  v.field("major_page_faults_per_s", h.major_page_faults_per_s, "those that read from storage");
  v.field("disks", h.disks, "physical disks and the device that holds the data set");
  v.field("data_disk", h.data_disk, "block device that holds the data set");
  v.field("network", h.network, "network interfaces");
  v.field("processes", h.processes, "the workers");
  v.field("processes_cpu_s", h.processes_cpu_s, "CPU seconds of all workers in the window");
  v.field("processes_rss_peak_bytes", h.processes_rss_peak_bytes,
          "sum of the workers' largest resident memory");
}

/// One sampler at one scope: was the period kept, and what did looking cost?
struct SourceTelemetry {
  std::string sampler, scope;
  std::int64_t reads = 0, late = 0;
  Measured<double> interval_ms, interval_max_ms;
  double read_ms = 0;
  std::string stopped;
  std::vector<std::string> unsupported;
};
template <class V>
void visit_fields(SourceTelemetry& s, V& v) {
  v.field("sampler", s.sampler, "name of the sampler");
  v.field("scope", s.scope, "what it looks at");
  v.field("reads", s.reads, "times it was read");
  v.field("late", s.late, "readings left out because the one before took too long");
  v.field("interval_ms", s.interval_ms, "mean time between readings");
  v.field("interval_max_ms", s.interval_max_ms, "longest time between readings");
  v.field("read_ms", s.read_ms, "mean time that one reading took");
  v.field("stopped", s.stopped, "why it was given up; empty when it was not");
  v.field("unsupported", s.unsupported,
          "metric: why it is not to be had here, of those that most machines have");
}

/// Another host of a run on several.
struct HostUtilization {
  std::string name;
  Measured<double> window_s;
  double cost_cpu_s = 0;
  HostTelemetry host;
  FabricTelemetry fabric;
  std::vector<SourceTelemetry> sources;
};
template <class V>
void visit_fields(HostUtilization& h, V& v) {
  v.field("name", h.name, "host name, as in run.hosts");
  v.field("window_s", h.window_s, "length of the measured window there");
  v.field("cost_cpu_s", h.cost_cpu_s, "CPU seconds of the sampling threads there");
  v.field("host", h.host, "the host");
  v.field("fabric", h.fabric, "the chassis that it asked");
  v.field("sources", h.sources, "how the readings were taken there");
}

struct Utilization {
  double interval_ms = 0;  // asked for
  Measured<double> window_s;
  double cost_cpu_s = 0;
  Measured<double> cost_cpu_pct;
  std::vector<GpuTelemetry> gpus;
  HostTelemetry host;
  FabricTelemetry fabric;
  std::vector<SourceTelemetry> sources;
  Measured<std::string> raw_file = Measured<std::string>::missing("not asked for (telemetry.raw)");
  std::vector<HostUtilization> hosts;
};
template <class V>
void visit_fields(Utilization& u, V& v) {
  v.field("interval_ms", u.interval_ms, "time between readings that was asked for");
  v.field("window_s", u.window_s, "length of the measured window");
  v.field("cost_cpu_s", u.cost_cpu_s, "CPU seconds of the sampling threads, whole run");
  v.field("cost_cpu_pct", u.cost_cpu_pct, "the same as a share of one CPU");
  v.field("gpus", u.gpus, "the GPUs of the run");
  v.field("host", u.host, "the host");
  v.field("fabric", u.fabric, "the chassis");
  v.field("sources", u.sources, "how the readings were taken");
  v.field("raw_file", u.raw_file, "file with every reading, one JSON object a line");
  v.field("hosts", u.hosts, "the other hosts of a run on several; their GPUs are among gpus");
}

/// At most 3000 points: when full, two neighbours become one (mean, smallest, largest).
struct Series {
  std::string scope, metric;
  std::vector<double> t_s, values, min, max;
};
template <class V>
void visit_fields(Series& s, V& v) {
  v.field("scope", s.scope, "GPU UUID, host, disk or process");
  v.field("metric", s.metric, "name with unit");
  v.field("t_s", s.t_s, "seconds since the sampling began; the end of what the value stands for");
  v.field("values", s.values, "readings or means of several, to 6 digits");
  v.field("min", s.min, "smallest reading of each point; empty while every point is one reading");
  v.field("max", s.max, "largest reading of each point; empty likewise");
}

struct Telemetry {
  double began_s = 0;  // CLOCK_MONOTONIC: the zero of every t_s
  Utilization utilization;
  std::map<std::string, Series> series;  // "scope/metric"
};
template <class V>
void visit_fields(Telemetry& t, V& v) {
  v.field("began_s", t.began_s, "steady clock when sampling began");
  v.field("utilization", t.utilization, "summaries over the measured window");
  v.field("series", t.series, "readings over the whole run");
}

}  // namespace falcon
