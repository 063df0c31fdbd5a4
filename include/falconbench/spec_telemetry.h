// Parts of the run spec: what is measured beside the training.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "falconbench/fields.h"

namespace falcon {

struct TelemetrySpec {
  double interval_ms = 200;
  std::optional<std::vector<std::string>> samplers;
  bool series = true;
  std::string raw;
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
}

}  // namespace falcon
