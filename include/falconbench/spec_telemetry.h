// Parts of the run spec: what is measured beside the training.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "falconbench/fields.h"

namespace falcon {

/// The management of a chassis. Its secrets are in a file or in the environment
/// (FALCONBENCH_REDFISH_USER, FALCONBENCH_REDFISH_PASSWORD), never in a spec.
struct RedfishSpec {
  std::string url;
  std::string ca_file;
  std::string credentials;
};
template <class V>
void visit_fields(RedfishSpec& s, V& v) {
  v.field("url", s.url, "its address, e.g. https://falcon.example", Rule{.required = true});
  v.field("ca_file", s.ca_file,
          "certificates to trust, PEM (default: the system's); relative to the spec file");
  v.field("credentials", s.credentials,
          "file of two lines, user and password (default: FALCONBENCH_REDFISH_USER and "
          "FALCONBENCH_REDFISH_PASSWORD); relative to the spec file");
}

struct TelemetrySpec {
  double interval_ms = 200;
  std::optional<std::vector<std::string>> samplers;
  bool series = true;
  std::string raw;
  std::optional<RedfishSpec> redfish;
};
template <class V>
void visit_fields(TelemetrySpec& s, V& v) {
  v.field("interval_ms", s.interval_ms,
          "time between two readings, milliseconds; slow sources are read less often",
          between(20, 60000));
  v.field("samplers", s.samplers, "which samplers run (default: all that work here; []: none)",
          one_of("samplers"));
  v.field("series", s.series,
          "keep the readings over time in the report, not only their summaries");
  v.field("raw", s.raw,
          "file for every reading, one JSON object a line; relative to the spec file");
  v.field("redfish", s.redfish, "management of a chassis, for the counters of its ports");
}

}  // namespace falcon
