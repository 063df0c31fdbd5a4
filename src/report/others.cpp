#include "report/others.h"

#include <utility>

#include "report/storage.h"

namespace falcon::report {
namespace {

void add_telemetry(const std::string& name, const Telemetry& telemetry, double began_s,
                   Report& report) {
  const Utilization& seen = telemetry.utilization;
  report.utilization.gpus.insert(report.utilization.gpus.end(), seen.gpus.begin(), seen.gpus.end());
  report.utilization.hosts.push_back(
      {name, seen.window_s, seen.cost_cpu_s, seen.host, seen.fabric, seen.sources});
  const double shift_s = telemetry.began_s - began_s;
  for (const auto& [key, series] : telemetry.series) {
    Series shifted = series;
    for (double& t_s : shifted.t_s) t_s += shift_s;
    report.series[name + ":" + key] = std::move(shifted);
  }
}

}  // namespace

void add_others(const std::vector<OtherHost>& others, const Evidence& evidence, double began_s,
                Report& report) {
  for (const OtherHost& other : others) {
    report.system.hosts.push_back(other.host);
    HostStorage storage;
    if (other.sight.has_value()) {
      const HostSight& sight = *other.sight;
      add_telemetry(other.host.hostname, sight.telemetry, began_s, report);
      static_cast<StorageFigures&>(storage) =
          make_storage(evidence, {other.host.hostname, sight.telemetry.utilization, sight.storage});
    } else {
      HostUtilization unknown;
      unknown.name = other.host.hostname;
      unknown.window_s = Measured<double>::missing(other.sight.reason);
      report.utilization.hosts.push_back(std::move(unknown));
      static_cast<StorageFigures&>(storage) = unknown_storage(other.sight.reason);
    }
    storage.name = other.host.hostname;
    report.storage.hosts.push_back(std::move(storage));
  }
}

}  // namespace falcon::report
