// Parts of a run's telemetry: one GPU, CPU, disk, process over the measured window. Means are
// time-weighted over the window and exact: kept from every reading, not from the thinned series.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/measured.h"

namespace falcon {

struct Summary {
  double mean = 0, min = 0, max = 0;
  std::int64_t count = 0;  // values, not calls
  double covered_pct = 0;  // share of the window that the values stand for
};
template <class V>
void visit_fields(Summary& s, V& v) {
  v.field("mean", s.mean, "time-weighted mean over the window");
  v.field("min", s.min, "smallest value");
  v.field("max", s.max, "largest value");
  v.field("count", s.count, "values in the window");
  v.field("covered_pct", s.covered_pct, "share of the window that has values");
}
using MeasuredSummary = Measured<Summary>;

struct ThrottleShare {
  std::string reason;
  double share_pct = 0;
  std::string basis;
};
template <class V>
void visit_fields(ThrottleShare& t, V& v) {
  v.field("reason", t.reason, "why clocks were held down (idle: nothing to do)");
  v.field("share_pct", t.share_pct, "share of the window");
  v.field("basis", t.basis, "counter (the driver's own, exact) or sampled (share of readings)");
}

struct GpuTelemetry {
  std::string uuid, pci_address;
  MeasuredSummary gpu_busy_pct, memory_busy_pct, memory_used_bytes;
  Measured<std::int64_t> memory_peak_bytes;
  MeasuredSummary pcie_rx_bytes_per_s, pcie_tx_bytes_per_s, power_w;
  Measured<double> energy_j, energy_j_per_sample;
  MeasuredSummary sm_clock_mhz, memory_clock_mhz, temperature_c;
  Measured<std::vector<ThrottleShare>> throttle;
};
template <class V>
void visit_fields(GpuTelemetry& g, V& v) {
  v.field("uuid", g.uuid, "GPU UUID");
  v.field("pci_address", g.pci_address, "PCI address");
  v.field("gpu_busy_pct", g.gpu_busy_pct, "time with a kernel resident: not a measure of work");
  v.field("memory_busy_pct", g.memory_busy_pct, "time with device memory read or written");
  v.field("memory_used_bytes", g.memory_used_bytes, "device memory in use, by all processes");
  v.field("memory_peak_bytes", g.memory_peak_bytes, "largest reading of it in the window");
  v.field("pcie_rx_bytes_per_s", g.pcie_rx_bytes_per_s, "PCIe towards the GPU, with protocol");
  v.field("pcie_tx_bytes_per_s", g.pcie_tx_bytes_per_s, "PCIe from the GPU, with protocol");
  v.field("power_w", g.power_w, "power of the board");
  v.field("energy_j", g.energy_j, "energy of the window by the board's counter");
  v.field("energy_j_per_sample", g.energy_j_per_sample, "the same over the samples of this GPU");
  v.field("sm_clock_mhz", g.sm_clock_mhz, "SM clock");
  v.field("memory_clock_mhz", g.memory_clock_mhz, "memory clock");
  v.field("temperature_c", g.temperature_c, "temperature of the GPU");
  v.field("throttle", g.throttle, "why clocks were held down, largest share first");
}

struct CoreTelemetry {
  int cpu = 0;
  MeasuredSummary busy_pct;
};
template <class V>
void visit_fields(CoreTelemetry& c, V& v) {
  v.field("cpu", c.cpu, "logical CPU");
  v.field("busy_pct", c.busy_pct, "busy share of this CPU");
}

struct DiskTelemetry {
  std::string name;
  bool holds_data = false;
  MeasuredSummary read_bytes_per_s, write_bytes_per_s, read_iops, write_iops, read_latency_ms,
      write_latency_ms, queue_depth, busy_pct;
};
template <class V>
void visit_fields(DiskTelemetry& d, V& v) {
  v.field("name", d.name, "block device");
  v.field("holds_data", d.holds_data, "the data set lies on it");
  v.field("read_bytes_per_s", d.read_bytes_per_s, "bytes read");
  v.field("write_bytes_per_s", d.write_bytes_per_s, "bytes written");
  v.field("read_iops", d.read_iops, "reads completed a second");
  v.field("write_iops", d.write_iops, "writes completed a second");
  v.field("read_latency_ms", d.read_latency_ms, "mean time of a read, waiting included");
  v.field("write_latency_ms", d.write_latency_ms, "mean time of a write, waiting included");
  v.field("queue_depth", d.queue_depth, "mean requests in flight");
  v.field("busy_pct", d.busy_pct, "time with a request in flight");
}

struct ProcessTelemetry {
  std::int64_t pid = 0;
  std::string name;
  Measured<double> cpu_s;
  MeasuredSummary cpu_pct, rss_bytes;
  Measured<double> read_bytes, write_bytes;
};
template <class V>
void visit_fields(ProcessTelemetry& p, V& v) {
  v.field("pid", p.pid, "process id");
  v.field("name", p.name, "what it is, e.g. rank 0");
  v.field("cpu_s", p.cpu_s, "CPU seconds used in the window, all threads");
  v.field("cpu_pct", p.cpu_pct, "100 is one logical CPU");
  v.field("rss_bytes", p.rss_bytes, "resident memory");
  v.field("read_bytes", p.read_bytes, "bytes fetched from storage in the window");
  v.field("write_bytes", p.write_bytes, "bytes sent to storage in the window");
}

}  // namespace falcon
