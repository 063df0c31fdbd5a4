#include "spec/validate_telemetry.h"

#include <algorithm>
#include <string>

#include "falconbench/catalog.h"

namespace falcon::spec {
namespace {

/// What is wrong with the address of a management service, or "".
std::string fault_of(const RedfishSpec& redfish) {
  const std::string& url = redfish.url;
  const bool is_plain = url.starts_with("http://");
  if (!is_plain && !url.starts_with("https://")) return "must begin with https:// (or http://)";
  const std::size_t host = url.find("://") + 3;
  const std::string authority = url.substr(host, url.find('/', host) - host);
  if (authority.empty()) return "names no host";
  if (authority.find('@') != std::string::npos) {
    return "holds a user or password; accepted: telemetry.redfish.credentials or the environment";
  }
  if (is_plain && !redfish.credentials.empty()) {
    return "is http, over which credentials could be read by others; accepted with them: https";
  }
  return "";
}

}  // namespace

void validate_telemetry(const TelemetrySpec& spec, const base::Value& tree,
                        std::vector<Fault>& faults) {
  const auto fault = [&](const std::string& key, const std::string& message) {
    const bool is_known = std::any_of(faults.begin(), faults.end(), [&key](const Fault& known) {
      return known.key == key || known.key.starts_with(key + ".");
    });
    if (is_known) return;
    const base::Value* value = tree.find_path(key);
    const base::Mark mark = value == nullptr ? tree.mark : value->mark;
    faults.push_back({mark.source, mark.line, mark.column, key, message});
  };
  if (!spec.raw.empty() && spec.samplers && spec.samplers->empty()) {
    fault("telemetry.raw", "has no effect: telemetry.samplers is empty");
  }
  for (const WordFacts& sampler : catalog::samplers()) {
    const bool is_off = spec.samplers && std::find(spec.samplers->begin(), spec.samplers->end(),
                                                   sampler.name) == spec.samplers->end();
    for (const std::string& option : sampler.options) {
      const std::string key = "telemetry." + option;
      const base::Value* value = tree.find_path(key);
      if (!is_off || value == nullptr || value->is_null()) continue;
      fault(key, "has no effect: " + sampler.name + " is not among telemetry.samplers");
    }
  }
  if (!spec.redfish) return;
  const std::string wrong = fault_of(*spec.redfish);
  if (!wrong.empty()) fault("telemetry.redfish.url", wrong);
}

}  // namespace falcon::spec
