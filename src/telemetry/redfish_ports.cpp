#include "telemetry/redfish_ports.h"

#include <cmath>
#include <utility>

#include "base/text.h"

namespace falcon::telemetry {
namespace {

using base::Value;

constexpr const char* kFabrics = "/redfish/v1/Fabrics";
constexpr std::size_t kMaxPorts = 1024;

/// A number that is not negative under a dotted path of names.
Measured<double> number_of(const Value& resource, const char* dotted) {
  const auto none = [dotted](const char* why) {
    return Measured<double>::missing(std::string(dotted) + why);
  };
  const Value* value = resource.find_path(dotted);
  if (value == nullptr) return none(" is not given");
  if (value->is_null()) return none(" is null");
  if (!value->is_number()) return none(" is not a number");
  if (value->as_number() < 0) return none(" is negative");
  return value->as_number();
}

Measured<std::int64_t> whole_of(const Value& resource, const char* name) {
  const Measured<double> number = number_of(resource, name);
  if (!number.has_value()) return Measured<std::int64_t>::missing(number.reason);
  return static_cast<std::int64_t>(std::llround(*number));
}

Measured<std::string> text_of(const Value& resource, const char* name) {
  const Value* value = resource.find(name);
  if (value != nullptr && value->is_text()) return value->as_text();
  return Measured<std::string>::missing(std::string(name) +
                                        (value == nullptr ? " is not given" : " is not text"));
}

std::string last_part(const std::string& path) {
  const std::size_t end = path.find_last_not_of('/');
  const std::size_t slash = path.rfind('/', end);
  return path.substr(slash + 1, end - slash);
}

std::string name_of(const Measured<Value>& resource, const std::string& path) {
  if (!resource.has_value()) return last_part(path);
  return text_of(*resource, "Id").value.value_or(last_part(path));
}

/// What is in use cannot be more than there is: then neither is believed.
template <class T>
void check_pair(Measured<T>& now, Measured<T>& most, const std::string& names) {
  if (!now.has_value() || !most.has_value() || *now <= *most) return;
  now = most = Measured<T>::missing(
      names + " contradict each other: " + base::number_text(static_cast<double>(*now)) + " of " +
      base::number_text(static_cast<double>(*most)));
}

RedfishPort make_port(const Measured<Value>& resource) {
  RedfishPort port;
  FabricPortTelemetry& facts = port.facts;
  if (!resource.has_value()) {
    facts.type = facts.link_status = port.metrics_path =
        Measured<std::string>::missing(resource.reason);
    facts.width = facts.width_max = Measured<std::int64_t>::missing(resource.reason);
    facts.speed_gbit_per_s = facts.speed_max_gbit_per_s =
        Measured<double>::missing(resource.reason);
    return port;
  }
  facts.type = text_of(*resource, "PortType");
  facts.link_status = text_of(*resource, "LinkStatus");
  facts.width = whole_of(*resource, "ActiveWidth");
  facts.width_max = whole_of(*resource, "Width");
  check_pair(facts.width, facts.width_max, "ActiveWidth and Width");
  facts.speed_gbit_per_s = number_of(*resource, "CurrentSpeedGbps");
  facts.speed_max_gbit_per_s = number_of(*resource, "MaxSpeedGbps");
  check_pair(facts.speed_gbit_per_s, facts.speed_max_gbit_per_s,
             "CurrentSpeedGbps and MaxSpeedGbps");
  port.metrics_path = link_of(*resource, "Metrics");
  return port;
}

/// Members of the collection that a resource links to.
Measured<std::vector<std::string>> members_below(RedfishClient& client,
                                                 const Measured<Value>& resource,
                                                 const char* name) {
  using Paths = Measured<std::vector<std::string>>;
  if (!resource.has_value()) return Paths::missing(resource.reason);
  const Measured<std::string> link = link_of(*resource, name);
  return link.has_value() ? client.members(*link) : Paths::missing(link.reason);
}

void add_ports(RedfishClient& client, const FabricPortTelemetry& place,
               const std::vector<std::string>& paths, std::vector<RedfishPort>& out) {
  for (const std::string& path : paths) {
    if (out.size() == kMaxPorts) return;
    const Measured<Value> resource = client.get(path);
    RedfishPort port = make_port(resource);
    port.facts.chassis = place.chassis;
    port.facts.fabric = place.fabric;
    port.facts.switch_name = place.switch_name;
    port.facts.port = name_of(resource, path);
    out.push_back(std::move(port));
  }
}

}  // namespace

Measured<std::vector<RedfishPort>> find_ports(RedfishClient& client, const std::string& chassis) {
  using Ports = Measured<std::vector<RedfishPort>>;
  const auto fabrics = client.members(kFabrics);
  if (!fabrics.has_value()) return Ports::missing(fabrics.reason);
  std::vector<RedfishPort> ports;
  std::string why = "the service has no fabric";
  FabricPortTelemetry place;
  place.chassis = chassis;
  for (const std::string& fabric_path : *fabrics) {
    const Measured<Value> fabric = client.get(fabric_path);
    place.fabric = name_of(fabric, fabric_path);
    const auto switches = members_below(client, fabric, "Switches");
    if (!switches.has_value()) why = "fabric " + place.fabric + ": " + switches.reason;
    for (const std::string& path : switches.value.value_or(std::vector<std::string>())) {
      const Measured<Value> one = client.get(path);
      place.switch_name = name_of(one, path);
      const auto members = members_below(client, one, "Ports");
      if (!members.has_value()) why = "switch " + place.switch_name + ": " + members.reason;
      if (members.has_value()) add_ports(client, place, *members, ports);
    }
  }
  if (ports.empty()) return Ports::missing(client.broken().empty() ? why : client.broken());
  return ports;
}

std::array<Reading, kNumPortCounters> read_counters(const Measured<Value>& metrics) {
  std::array<Reading, kNumPortCounters> out;
  if (!metrics.has_value()) {
    out.fill(Reading::none(metrics.reason));
    return out;
  }
  const auto sum = [&metrics](std::initializer_list<const char*> names) {
    double total = 0;
    for (const char* name : names) {
      const Measured<double> number = number_of(*metrics, name);
      if (!number.has_value()) return Reading::none("PortMetrics: " + number.reason);
      total += *number;
    }
    return Reading::of(total);
  };
  out[kRxBytes] = sum({"RXBytes"});
  out[kTxBytes] = sum({"TXBytes"});
  out[kCorrectable] = sum({"PCIeErrors.CorrectableErrorCount"});
  out[kUncorrectable] = sum({"PCIeErrors.NonFatalErrorCount", "PCIeErrors.FatalErrorCount"});
  out[kReplays] = sum({"PCIeErrors.ReplayCount"});
  return out;
}

}  // namespace falcon::telemetry
