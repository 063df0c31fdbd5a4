#include "telemetry/track.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/text.h"

namespace falcon::telemetry {
namespace {

// A total taken from less of the window than this would mostly be a guess.
constexpr double kMinTotalCoveragePct = 80;

}  // namespace

void Track::Sums::add(const Piece& piece, double begin, double end) {
  const double overlap_s = std::min(piece.end_s, end) - std::max(piece.begin_s, begin);
  if (overlap_s <= 0) return;
  const double share = overlap_s / (piece.end_s - piece.begin_s);
  covered_s += overlap_s;
  if (piece.weight <= 0) return;  // a ratio whose base stood still: time seen, no value
  weighted += piece.value * piece.weight * share;
  weight += piece.weight * share;
  min = std::min(min, piece.value);
  max = std::max(max, piece.value);
  ++count;
}

void Track::keep(const Piece& piece, const Window& window) {
  recent_.push_back(piece);
  while (recent_.front().end_s < piece.end_s - kMaxDelayS) {
    if (window.begin_s) {
      folded_.add(recent_.front(), *window.begin_s,
                  window.end_s.value_or(std::numeric_limits<double>::infinity()));
    }
    recent_.pop_front();
  }
  if (metric_.series && piece.weight > 0) {
    series_.add(piece.end_s, piece.value, piece.end_s - piece.begin_s);
  }
}

void Track::add(double now_s, std::optional<double> before_s, const Reading& reading,
                const Window& window) {
  if (!reading.value) {
    last_failure_ = reading.reason;
    return;
  }
  if (metric_.kind == MetricKind::kGauge) {
    if (before_s && now_s > *before_s) {
      keep({*before_s, now_s, *reading.value * metric_.scale, now_s - *before_s}, window);
    }
    return;
  }
  const std::optional<Last> last = std::exchange(last_, Last{now_s, *reading.value, reading.base});
  if (!last || now_s <= last->t_s) return;
  if (metric_.kind == MetricKind::kMean) {
    keep({last->t_s, now_s, *reading.value * metric_.scale, now_s - last->t_s}, window);
    return;
  }
  const double growth = *reading.value - last->value;
  const double base_growth = reading.base - last->base;
  if (growth < 0 || base_growth < 0) {
    last_failure_ = "the counter began anew";
    return;
  }
  if (metric_.kind == MetricKind::kCounter) {
    const double seconds = now_s - last->t_s;
    keep({last->t_s, now_s, growth / seconds * metric_.scale, seconds}, window);
  } else {
    const double value = base_growth > 0 ? growth / base_growth * metric_.scale : 0;
    keep({last->t_s, now_s, value, base_growth}, window);
  }
}

MetricResult Track::result(const Window& window, std::optional<double> newest_s) const {
  const auto none = [](const std::string& why) {
    return MetricResult{MeasuredSummary::missing(why), Measured<double>::missing(why)};
  };
  if (!metric_.missing.empty()) return none(metric_.missing);
  if (!window.begin_s) return none("the measured window did not begin");
  const double end_s = window.end_s.value_or(newest_s.value_or(*window.begin_s));
  Sums sums = folded_;
  for (const Piece& piece : recent_) sums.add(piece, *window.begin_s, end_s);
  if (sums.count == 0) {
    if (!last_failure_.empty()) return none(last_failure_);
    return none(sums.covered_s > 0 ? metric_.when_idle : "no reading in the measured window");
  }
  const double window_s = end_s - *window.begin_s;
  Summary summary{sums.weighted / sums.weight, sums.min, sums.max, sums.count,
                  std::min(100.0, 100 * sums.covered_s / window_s)};
  MetricResult result{summary, Measured<double>::missing("not a counter")};
  if (metric_.kind == MetricKind::kGauge || metric_.kind == MetricKind::kRatio) return result;
  if (summary.covered_pct < kMinTotalCoveragePct) {
    result.total = Measured<double>::missing("readings cover only " +
                                             base::number_text(std::round(summary.covered_pct)) +
                                             " % of the window");
  } else {
    result.total = summary.mean * window_s;
  }
  return result;
}

}  // namespace falcon::telemetry
