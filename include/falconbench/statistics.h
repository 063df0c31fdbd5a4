// Summary of a series of numbers, as every part of the report writes it. Made by
// measure::summarize(). The unit is that of the series and stands in the name of the field that
// holds this.
#pragma once
#include <cstdint>

#include "falconbench/fields.h"
#include "falconbench/measured.h"

namespace falcon {

struct Statistics {
  std::int64_t count = 0;
  Measured<double> mean, p50, p90, p95, p99, min, max, stddev, ci95;
};
template <class V>
void visit_fields(Statistics& s, V& v) {
  v.field("count", s.count, "number of values");
  v.field("mean", s.mean, "arithmetic mean");
  v.field("p50", s.p50, "median; percentiles interpolate linearly between the sorted values");
  v.field("p90", s.p90, "90th percentile");
  v.field("p95", s.p95, "95th percentile");
  v.field("p99", s.p99, "99th percentile");
  v.field("min", s.min, "smallest");
  v.field("max", s.max, "largest");
  v.field("stddev", s.stddev, "sample standard deviation (n - 1)");
  v.field("ci95", s.ci95,
          "half width of the mean's 95 % confidence interval, widened for autocorrelation");
}

}  // namespace falcon
