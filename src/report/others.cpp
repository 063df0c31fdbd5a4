#include "report/others.h"

namespace falcon::report {
namespace {

void add_telemetry(const std::string& name, const Telemetry& telemetry, double began_s,
                   Report& report) {
  const Utilization& seen = telemetry.utilization;
  report.utilization.gpus.insert(report.utilization.gpus.end(), seen.gpus.begin(), seen.gpus.end());
  report.utilization.hosts.push_back(
      {name, seen.window_s, seen.cost_cpu_s, seen.host, seen.sources});
  const double shift_s = telemetry.began_s - began_s;
  for (const auto& [key, series] : telemetry.series) {
    Series shifted = series;
    for (double& t_s : shifted.t_s) t_s += shift_s;
    report.series[name + ":" + key] = std::move(shifted);
  }
}

}  // namespace

void add_others(const std::vector<OtherHost>& others, double began_s, Report& report) {
  for (const OtherHost& other : others) {
    report.system.hosts.push_back(other.host);
    if (other.telemetry.has_value()) {
      add_telemetry(other.host.hostname, *other.telemetry, began_s, report);
    } else {
      HostUtilization unknown;
      unknown.name = other.host.hostname;
      unknown.window_s = Measured<double>::missing(other.telemetry.reason);
      report.utilization.hosts.push_back(std::move(unknown));
    }
  }
}

}  // namespace falcon::report
