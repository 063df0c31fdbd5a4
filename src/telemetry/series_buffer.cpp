#include "telemetry/series_buffer.h"

#include <algorithm>

namespace falcon::telemetry {
namespace {

void merge(SeriesBuffer::Point& into, const SeriesBuffer::Point& from) {
  into.t_s = from.t_s;
  into.sum += from.sum;
  into.weight += from.weight;
  into.min = std::min(into.min, from.min);
  into.max = std::max(into.max, from.max);
}

}  // namespace

void SeriesBuffer::add(double t_s, double value, double seconds) {
  const Point point{t_s, value * seconds, seconds, value, value};
  if (!points_.empty() && in_last_ < readings_per_point_) {
    merge(points_.back(), point);
    ++in_last_;
    return;
  }
  if (points_.size() == max_points_) {
    for (std::size_t i = 0; i + 1 < points_.size(); i += 2) {
      points_[i / 2] = points_[i];
      merge(points_[i / 2], points_[i + 1]);
    }
    const bool is_odd = points_.size() % 2 == 1;
    if (is_odd) points_[points_.size() / 2] = points_.back();
    in_last_ = is_odd ? readings_per_point_ : 2 * readings_per_point_;
    points_.resize((points_.size() + 1) / 2);
    readings_per_point_ *= 2;
    add(t_s, value, seconds);
    return;
  }
  points_.push_back(point);
  in_last_ = 1;
}

}  // namespace falcon::telemetry
