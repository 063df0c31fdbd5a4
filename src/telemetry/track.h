// One metric from its readings to its summary over the measured window and its series.
#pragma once
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>

#include "falconbench/sampler.h"
#include "telemetry/series_buffer.h"

namespace falcon::telemetry {

/// Begin and end of what is summarised, steady seconds. Without an end it goes on to the newest
/// reading.
struct Window {
  std::optional<double> begin_s;
  std::optional<double> end_s;
};

class Track {
 public:
  /// How long a window's begin or end may be told after it happened: values are kept apart that
  /// long before they are folded into the sums (or dropped, while no window has begun).
  static constexpr double kMaxDelayS = 30;

  explicit Track(Metric metric) : metric_(std::move(metric)) {}

  const Metric& metric() const { return metric_; }
  /// before_s: time of the reading before, which a gauge's value goes back to. Times must not
  /// decrease. window: as known now.
  void add(double now_s, std::optional<double> before_s, const Reading& reading,
           const Window& window);
  /// newest_s: time of the newest reading of the sampler, the end of a window that has none.
  MetricResult result(const Window& window, std::optional<double> newest_s) const;
  const SeriesBuffer& series() const { return series_; }

 private:
  struct Piece {  // the value of one stretch of time
    double begin_s, end_s;
    double value;
    double weight;  // seconds, or growth of a ratio's base
  };
  struct Sums {
    double weighted = 0, weight = 0, covered_s = 0;
    double min = std::numeric_limits<double>::infinity();
    double max = -std::numeric_limits<double>::infinity();
    std::int64_t count = 0;
    void add(const Piece& piece, double begin_s, double end_s);
  };
  void keep(const Piece& piece, const Window& window);

  Metric metric_;
  std::deque<Piece> recent_;
  Sums folded_;
  SeriesBuffer series_;
  struct Last {
    double t_s, value, base;
  };
  std::optional<Last> last_;  // of all but gauges
  std::string last_failure_;
};

}  // namespace falcon::telemetry
