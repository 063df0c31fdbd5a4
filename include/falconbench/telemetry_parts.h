// Parts of a run's telemetry: one CPU, disk, network interface, process over the measured window.
// Means are time-weighted over the window and exact: kept from every reading, not from the thinned
// series.
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
  v.field("holds_data", d.holds_data,
          "the data set lies on it, or on a device that it is a part of");
  v.field("read_bytes_per_s", d.read_bytes_per_s, "bytes read");
  v.field("write_bytes_per_s", d.write_bytes_per_s, "bytes written");
  v.field("read_iops", d.read_iops, "reads completed a second");
  v.field("write_iops", d.write_iops, "writes completed a second");
  v.field("read_latency_ms", d.read_latency_ms, "mean time of a read, waiting included");
  v.field("write_latency_ms", d.write_latency_ms, "mean time of a write, waiting included");
  v.field("queue_depth", d.queue_depth, "mean requests in flight");
  v.field("busy_pct", d.busy_pct, "time with a request in flight");
}

struct NetworkTelemetry {
  std::string name;
  MeasuredSummary rx_bytes_per_s, tx_bytes_per_s, rx_packets_per_s, tx_packets_per_s, errors_per_s,
      drops_per_s;
};
template <class V>
void visit_fields(NetworkTelemetry& n, V& v) {
  v.field("name", n.name, "network interface");
  v.field("rx_bytes_per_s", n.rx_bytes_per_s, "bytes received");
  v.field("tx_bytes_per_s", n.tx_bytes_per_s, "bytes sent");
  v.field("rx_packets_per_s", n.rx_packets_per_s, "packets received");
  v.field("tx_packets_per_s", n.tx_packets_per_s, "packets sent");
  v.field("errors_per_s", n.errors_per_s, "packets received or sent with errors");
  v.field("drops_per_s", n.drops_per_s, "packets dropped on either way");
}

struct ProcessTelemetry {
  std::int64_t pid = 0;
  std::string name;
  Measured<double> cpu_s;
  MeasuredSummary cpu_pct, rss_bytes, page_faults_per_s, major_page_faults_per_s;
  Measured<double> read_bytes, write_bytes;
};
template <class V>
void visit_fields(ProcessTelemetry& p, V& v) {
  v.field("pid", p.pid, "process id");
  v.field("name", p.name, "what it is, e.g. rank 0");
  v.field("cpu_s", p.cpu_s, "CPU seconds used in the window, all threads");
  v.field("cpu_pct", p.cpu_pct, "100 is one logical CPU");
  v.field("rss_bytes", p.rss_bytes, "resident memory");
  v.field("page_faults_per_s", p.page_faults_per_s, "page faults of all its threads");
  v.field("major_page_faults_per_s", p.major_page_faults_per_s, "those that read from storage");
  v.field("read_bytes", p.read_bytes, "bytes fetched from storage in the window");
  v.field("write_bytes", p.write_bytes, "bytes sent to storage in the window");
}

}  // namespace falcon
