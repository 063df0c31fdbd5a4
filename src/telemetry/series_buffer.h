// Readings over time in bounded room: when full, neighbours merge and the period doubles.
#pragma once
#include <cstddef>
#include <vector>

namespace falcon::telemetry {

class SeriesBuffer {
 public:
  static constexpr std::size_t kMaxPoints = 3000;

  struct Point {
    double t_s = 0;     // end of the newest reading in it
    double sum = 0;     // of value x weight
    double weight = 0;  // seconds the readings stand for
    double min = 0, max = 0;
    double value() const { return sum / weight; }
  };

  explicit SeriesBuffer(std::size_t max_points = kMaxPoints) : max_points_(max_points) {}

  /// seconds: what the value stands for, above 0.
  void add(double t_s, double value, double seconds);
  const std::vector<Point>& points() const { return points_; }
  /// Readings that one point stands for: 1, 2, 4, ...
  int readings_per_point() const { return readings_per_point_; }

 private:
  std::size_t max_points_;
  int readings_per_point_ = 1;
  int in_last_ = 0;  // readings in the last point
  std::vector<Point> points_;
};

}  // namespace falcon::telemetry
