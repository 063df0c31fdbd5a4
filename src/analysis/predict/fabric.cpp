#include "analysis/predict/fabric.h"

#include <algorithm>
#include <cmath>

namespace falcon::analysis {
namespace {

double time_of(const ReducePoint& point, Pace pace) {
  return pace == Pace::kFast ? point.low_s : pace == Pace::kSlow ? point.high_s : point.time_s;
}

/// Time at the measured number of ranks.
double measured_s(const Fabric& fabric, double bytes, Pace pace) {
  const std::vector<ReducePoint>& points = fabric.points;
  if (bytes <= points.front().bytes || points.size() == 1) {
    const double share = points.size() == 1 ? bytes / points.front().bytes : 1;
    return time_of(points.front(), pace) * std::max(share, 1.0);
  }
  std::size_t next = 1;
  while (next + 1 < points.size() && points[next].bytes < bytes) ++next;
  const ReducePoint& low = points[next - 1];
  const ReducePoint& high = points[next];
  const double slope = (time_of(high, pace) - time_of(low, pace)) / (high.bytes - low.bytes);
  return time_of(low, pace) + std::max(slope, 0.0) * (bytes - low.bytes);
}

double hops(double ranks) {
  return 2 * (ranks - 1);
}

}  // namespace

double all_reduce_s(const Fabric& fabric, double bytes, int ranks, Pace pace) {
  if (ranks <= 1) return 0;
  const double whole_s = measured_s(fabric, bytes, pace);
  const double latency_s = std::min(time_of(fabric.points.front(), pace), whole_s);
  const double more_hops = hops(ranks) / hops(fabric.devices);
  const double more_bytes = (hops(ranks) / ranks) / (hops(fabric.devices) / fabric.devices);
  return latency_s * more_hops + (whole_s - latency_s) * more_bytes;
}

std::vector<double> all_reduce_parts_s(const Fabric& fabric, const std::vector<Level>& levels,
                                       double bytes, int ranks, Pace pace) {
  const int inside = levels.empty() ? ranks : std::min(ranks, levels.front().devices);
  std::vector<double> parts = {all_reduce_s(fabric, bytes, inside, pace)};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const bool is_top = i + 1 == levels.size();
    const int joined = is_top ? ranks : std::min(ranks, levels[i + 1].devices);
    const double groups = std::ceil(static_cast<double>(joined) / levels[i].devices);
    parts.push_back(hops(groups) * levels[i].latency_s +
                    hops(groups) / groups * bytes / levels[i].bytes_per_s);
  }
  return parts;
}

Fabric ring_fabric(const std::string& name, double bus_bytes_per_s, double hop_latency_s,
                   const std::string& source) {
  // Two ranks: 2 hops, and 2 (n - 1) / n = 1 times the bytes through each link.
  const auto point = [&](double bytes) {
    const double time_s = 2 * hop_latency_s + bytes / bus_bytes_per_s;
    return ReducePoint{bytes, time_s, time_s, time_s};
  };
  return {name, 2, {point(0), point(1e9)}, source};
}

}  // namespace falcon::analysis
