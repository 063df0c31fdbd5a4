#include "analysis/export/exporters.h"

#include <array>

namespace falcon::analysis {

std::span<const Exporter> exporters() {
  static constexpr std::array kTable{
      Exporter{"mlperf", ":::MLLOG lines of MLPerf logging", false, mlperf_log},
      Exporter{"prometheus", "Prometheus text format, for a push gateway or textfile collector",
               false, prometheus_text},
      Exporter{"tensorboard", "TensorBoard event files, one folder a run", true,
               tensorboard_events},
      Exporter{"junit", "JUnit XML, a test case a report", false, junit_xml}};
  return kTable;
}

}  // namespace falcon::analysis
