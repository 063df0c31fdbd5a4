#include "report/links/page.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <vector>

#include "base/text.h"
#include "report/summary_lines.h"

namespace falcon::report {
namespace {

using Row = std::vector<std::string>;

std::string scaled(const Measured<double>& value, double unit, const char* format) {
  if (!value.has_value()) return "-";
  char text[32];
  std::snprintf(text, sizeof text, format, *value / unit);
  return text;
}

std::string gb(const Measured<double>& bytes_per_s) {
  return scaled(bytes_per_s, 1e9, bytes_per_s.value.value_or(0) < 1e10 ? "%.3g" : "%.1f");
}

std::string us(const Measured<double>& seconds) {
  return scaled(seconds, 1e-6, "%.2f");
}

std::string size_text(std::int64_t bytes) {
  if (bytes >= 1 << 30) return std::to_string(bytes >> 30) + " GiB";
  if (bytes >= 1 << 20) return std::to_string(bytes >> 20) + " MiB";
  if (bytes >= 1 << 10) return std::to_string(bytes >> 10) + " KiB";
  return std::to_string(bytes) + " B";
}

/// Columns as wide as their widest cell, the first to the left, the others to the right.
std::string table(const std::string& title, const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out = "\n" + title + "\n";
  for (const Row& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      line += i == 0 ? " " + row[i] + padding : "  " + padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string class_table(const LinksReport& report) {
  if (report.classes.empty()) return "";
  std::vector<Row> rows = {
      {"class", "pairs", "write", "read", "both", "us", "staged", "both", "us"}};
  for (const LinkClass& one : report.classes) {
    const ClassFigures& direct = one.peer_to_peer;
    const ClassFigures& staged = one.host_staged;
    rows.push_back({one.name, std::to_string(one.pairs), gb(direct.write_bytes_per_s.median),
                    gb(direct.read_bytes_per_s.median), gb(direct.both_bytes_per_s.median),
                    us(direct.latency_s.median), gb(staged.write_bytes_per_s.median),
                    gb(staged.both_bytes_per_s.median), us(staged.latency_s.median)});
  }
  return table(
      "Pair classes: GB/s peer to peer and staged through host memory, latency of 16-byte copies",
      rows);
}

Measured<double> speed(const std::vector<CopySeries>& copies, const std::string& method) {
  for (const CopySeries& series : copies) {
    if (series.method == method && !series.both_ways) return series.bytes_per_s;
  }
  return {};
}

Measured<double> latency(const std::vector<LatencyFigure>& latencies, const std::string& method) {
  for (const LatencyFigure& figure : latencies) {
    if (figure.method == method) return figure.latency_s.median;
  }
  return {};
}

std::string pair_table(const LinksReport& report) {
  if (report.pairs.empty()) return "";
  std::vector<Row> rows = {{"from", "to", "class", "path", "write", "read", "both", "kernel w",
                            "kernel r", "us", "load us", "staged", "us", "seen at"}};
  for (const LinkPair& pair : report.pairs) {
    rows.push_back({pair.source_name, pair.target_name, pair.pair_class,
                    pair.path.has_value() ? *pair.path : "-",
                    gb(pair.peer_to_peer.write_bytes_per_s), gb(pair.peer_to_peer.read_bytes_per_s),
                    gb(pair.peer_to_peer.both_bytes_per_s), gb(speed(pair.copies, "kernel_write")),
                    gb(speed(pair.copies, "kernel_read")), us(pair.peer_to_peer.latency_s),
                    us(latency(pair.latencies, "load")), gb(pair.host_staged.write_bytes_per_s),
                    us(pair.host_staged.latency_s), gb(pair.expectation.practical_bytes_per_s)});
  }
  return table("Pairs of GPUs: GB/s; \"seen at\": what links of the kind are seen at, one way",
               rows);
}

std::string host_table(const LinksReport& report) {
  if (report.host.empty()) return "";
  std::vector<Row> rows = {{"GPU", "to GPU", "us", "from GPU", "us", "memory node", "seen at"}};
  for (const HostCopies& host : report.host) {
    const bool has_node = host.memory_node.has_value();
    rows.push_back({host.name, gb(speed(host.copies, "host_to_device")),
                    us(latency(host.latencies, "host_to_device")),
                    gb(speed(host.copies, "device_to_host")),
                    us(latency(host.latencies, "device_to_host")),
                    has_node ? std::to_string(*host.memory_node) : "-",
                    gb(host.expectation.practical_bytes_per_s)});
  }
  std::string text = table("Pinned host memory: GB/s, each GPU alone", rows);
  for (const HostCopiesTogether& together : report.host_together) {
    text += "  " + together.name + " at once, " + together.method + ": " +
            gb(together.bytes_per_s.median) + " GB/s, " +
            scaled(together.relative_to_alone, 0.01, "%.0f") + " % of the sum alone\n";
  }
  return text;
}

std::string collective_table(const LinksReport& report) {
  std::vector<Row> rows = {{"size"}};
  std::set<std::int64_t> sizes;
  std::vector<const CollectiveSeries*> columns;
  for (const CollectiveSeries& series : report.collectives) {
    if (series.by_size.empty()) continue;
    columns.push_back(&series);
    rows.front().push_back(series.operation +
                           (series.backend == "nccl" && !series.peer_to_peer ? " staged" : ""));
    for (const CollectiveFigure& figure : series.by_size) sizes.insert(figure.size_bytes);
  }
  if (columns.empty()) return "";
  for (const std::int64_t size : sizes) {
    Row row = {size_text(size)};
    for (const CollectiveSeries* series : columns) {
      const auto found = std::find_if(
          series->by_size.begin(), series->by_size.end(),
          [size](const CollectiveFigure& figure) { return figure.size_bytes == size; });
      row.push_back(found == series->by_size.end() ? "-" : gb(found->bus_bytes_per_s));
    }
    rows.push_back(std::move(row));
  }
  return table("Bus bandwidth of collectives over " + std::to_string(columns.front()->ranks) + " " +
                   columns.front()->backend + " ranks: GB/s",
               rows);
}

}  // namespace

std::string links_page(const LinksReport& report, const std::string& path, bool use_colour) {
  Lines head(use_colour);
  head.add_status(report.run.status, "links of " + report.run.hostname);
  if (report.error.has_value()) head.add("error", report.error.value->message);
  std::vector<std::string> names;
  for (const LinkDevice& device : report.devices) {
    names.push_back(device.name + (device.product.empty() ? "" : " " + device.product));
  }
  head.add("devices", base::join(names, ", "));
  head.add("host memory", gb(report.host_memory.bytes_per_s) + " GB/s, memcpy by one thread");
  Lines tail(use_colour);
  for (const Finding& finding : report.findings) {
    tail.add_finding(finding.severity, finding.message + " (" + finding.evidence + ")");
  }
  if (!path.empty()) tail.add("report", path);
  const std::string rest = tail.take();
  return head.take() + class_table(report) + pair_table(report) + host_table(report) +
         collective_table(report) + (rest.empty() ? "" : "\n" + rest);
}

}  // namespace falcon::report
