#include "telemetry/redfish_sampler.h"

#include <algorithm>
#include <utility>

#include "falconbench/errors.h"
#include "telemetry/counts.h"

namespace falcon::telemetry {
namespace {

Metric metric_of(std::size_t counter, const FabricPortTelemetry& port) {
  Metric metric;
  metric.is_rare = true;  // ports without a device have no counters
  metric.scope = port.chassis + "/" + port.switch_name + "/" + port.port;
  switch (counter) {
    case kRxBytes:
      metric.name = "rx_bytes_per_s";
      metric.kind = MetricKind::kCounter;
      return metric;
    case kTxBytes:
      metric.name = "tx_bytes_per_s";
      metric.kind = MetricKind::kCounter;
      return metric;
    case kCorrectable:
      metric.name = "correctable_errors";
      break;
    case kUncorrectable:
      metric.name = "uncorrectable_errors";
      break;
    default:
      metric.name = "replays";
  }
  metric.series = false;
  return metric;
}

/// Which drawer the port belongs to, and which of its cables is plugged into it.
void locate(const std::map<std::string, SystemDrawer>& drawers, FabricPortTelemetry& port) {
  port.drawer = Measured<std::int64_t>::missing("the system file names no drawer with this switch");
  port.host_link =
      Measured<std::string>::missing("the system file names no host link at this port");
  for (const auto& [number, drawer] : drawers) {
    if (drawer.switch_name != port.switch_name) continue;
    port.drawer = std::stoll(number);
    for (const auto& [name, link] : drawer.host_links) {
      if (link.port == port.port) port.host_link = name;
    }
  }
}

}  // namespace

RedfishSampler::RedfishSampler(const char* name, WatchedChassis chassis,
                               const std::string& disabled)
    : Sampler(name, chassis.name, "redfish " + chassis.name), chassis_(std::move(chassis)) {
  if (!disabled.empty()) give_up(disabled);
}

void RedfishSampler::give_up(const std::string& why) {
  metrics_ = {Metric{.name = "ports", .series = false, .missing = why}};
}

void RedfishSampler::prepare() {
  if (!metrics_.empty()) return;  // disabled
  try {
    auto client = std::make_unique<RedfishClient>(
        chassis_.address, RedfishCredentials::find(chassis_.credentials_file));
    {
      const std::lock_guard lock(mutex_);
      client_ = std::move(client);
      if (is_interrupted_) client_->interrupt();
    }
    auto ports = find_ports(*client_, chassis_.name);
    if (!ports.has_value()) return give_up(ports.reason);
    ports_ = std::move(*ports.value);
  } catch (const Error& error) {
    return give_up(error.what());
  }
  for (RedfishPort& port : ports_) {
    locate(chassis_.drawers, port.facts);
    for (std::size_t i = 0; i < kNumPortCounters; ++i) {
      metrics_.push_back(metric_of(i, port.facts));
    }
  }
  std::vector<Reading> probe(metrics_.size());
  read(probe);
  // A service that stopped answering may answer again; what a resource does not hold stays out.
  if (!client_->broken().empty()) return;
  for (std::size_t i = 0; i < probe.size(); ++i) {
    if (!probe[i].value) metrics_[i].missing = probe[i].reason;
  }
}

void RedfishSampler::interrupt() {
  const std::lock_guard lock(mutex_);
  is_interrupted_ = true;
  if (client_) client_->interrupt();
}

std::string RedfishSampler::read(std::span<Reading> out) {
  client_->retry();
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    const std::span<Metric> own(metrics_.data() + p * kNumPortCounters, kNumPortCounters);
    const bool is_wanted = std::any_of(own.begin(), own.end(),
                                       [](const Metric& metric) { return metric.missing.empty(); });
    if (!is_wanted) continue;
    const Measured<std::string>& path = ports_[p].metrics_path;
    const auto counters = read_counters(
        path.has_value() ? client_->get(*path) : Measured<base::Value>::missing(path.reason));
    std::copy(counters.begin(), counters.end(), out.begin() + p * kNumPortCounters);
  }
  return "";
}

void RedfishSampler::place(std::span<const MetricResult> results, Telemetry& out) const {
  auto& ports = out.utilization.fabric.ports;
  const auto none = [&ports](const std::string& why) {
    if (!ports.has_value()) ports.reason = why;
  };
  if (results.empty()) return none("the chassis " + chassis_.name + " did not answer in time");
  if (ports_.empty()) return none(results.front().summary.reason);
  if (!ports.has_value()) ports = std::vector<FabricPortTelemetry>();
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    FabricPortTelemetry port = ports_[p].facts;
    const std::span<const MetricResult> own =
        results.subspan(p * kNumPortCounters, kNumPortCounters);
    port.rx_bytes_per_s = own[kRxBytes].summary;
    port.tx_bytes_per_s = own[kTxBytes].summary;
    port.correctable_errors = growth(own[kCorrectable]);
    port.uncorrectable_errors = growth(own[kUncorrectable]);
    port.replays = growth(own[kReplays]);
    ports.value->push_back(std::move(port));
  }
}

}  // namespace falcon::telemetry
