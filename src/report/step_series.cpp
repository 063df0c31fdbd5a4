#include "report/step_series.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace falcon::report {

Series make_step_series(const Evidence& evidence, double zero_s) {
  Series series;
  series.scope = "run";
  series.metric = "step_time_ms";
  const std::span<const double> steps_ms = evidence.steps_ms;
  const std::size_t stride = (steps_ms.size() + kMaxStepPoints - 1) / kMaxStepPoints;
  double end_s = evidence.begin_s - zero_s;
  for (std::size_t begin = 0; begin < steps_ms.size(); begin += stride) {
    const auto group = steps_ms.subspan(begin, std::min(stride, steps_ms.size() - begin));
    const double sum_ms = std::accumulate(group.begin(), group.end(), 0.0);
    end_s += sum_ms * 1e-3;
    series.t_s.push_back(end_s);
    series.values.push_back(sum_ms / static_cast<double>(group.size()));
    if (stride == 1) continue;
    series.min.push_back(*std::min_element(group.begin(), group.end()));
    series.max.push_back(*std::max_element(group.begin(), group.end()));
  }
  return series;
}

}  // namespace falcon::report
