// Reports in the forms of other tools. A new one is a function in a file of its own and a row in
// exporters.cpp.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "falconbench/report.h"

namespace falcon::analysis {

struct NamedReport {
  std::string file;
  Report report;
};
using Reports = std::vector<NamedReport>;
/// Name below the output folder -> bytes. One text alone has the name "".
using ExportFiles = std::map<std::string, std::string>;

struct Exporter {
  const char* name;
  const char* title;
  bool needs_folder;
  ExportFiles (*make)(const Reports& reports);
};
std::span<const Exporter> exporters();

/// `:::MLLOG` lines as mlperf_logging writes them (mlcommons/logging, mllog.py): what the run did,
/// when. Keys that the run has no time or value for are left out.
ExportFiles mlperf_log(const Reports& reports);
/// Prometheus text format 0.0.4, for a push gateway or the textfile collector: base units, a line
/// for each figure that was measured, one family a metric.
ExportFiles prometheus_text(const Reports& reports);
/// TensorBoard event files, one folder a run: loss and step time by step, readings over time.
ExportFiles tensorboard_events(const Reports& reports);
/// JUnit XML: a test case a report, which fails when the run did not end well.
ExportFiles junit_xml(const Reports& reports);

}  // namespace falcon::analysis
