// A source of readings. A session reads it over and over on a thread of its lane, turns what it
// reads into summaries over the measured window, and hands these back to be placed. To add one: a
// file with a class, one row in src/telemetry/catalog.cpp, and the fields it fills in telemetry.h.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "falconbench/telemetry.h"

namespace falcon {

enum class MetricKind {
  kGauge,    // the value now; stands for the time since the reading before
  kCounter,  // grows; its rate a second over that time is the value
  kRatio,    // value and base both grow; the quotient of their growth is the value
  kMean,     // what the source itself averaged since the value before; the first is only a mark
};
enum class Direction { kNeither, kHigherIsBetter, kLowerIsBetter };

struct Metric {
  std::string name;  // with its unit
  MetricKind kind = MetricKind::kGauge;
  Direction direction = Direction::kNeither;
  double scale = 1;          // of counters and ratios, e.g. 100 for a share in percent
  bool series = true;        // keep it over time
  std::string scope = {};    // of its series, where that is not the sampler's own
  std::string missing = {};  // why it is not to be had here (probed once); empty: it is
  bool is_rare = false;      // many machines have none: that it is missing is no news
  std::string when_idle =
      "nothing happened in the window";  // reason when a ratio's base stood still
};

/// One value at one time, or why there is none.
struct Reading {
  std::optional<double> value;
  double base = 0;  // of ratios
  std::string reason;

  static Reading of(double value, double base = 0) { return {value, base, ""}; }
  static Reading none(std::string why) { return {{}, 0, std::move(why)}; }
};

/// A metric over the measured window.
struct MetricResult {
  MeasuredSummary summary;
  Measured<double> total;  // mean x window, of counters (their growth, times scale) and means
};

class Sampler {
 public:
  /// name: its word in the catalog. scope: what it looks at. Samplers with the same lane are read
  /// one after another on one thread; a source that may block has a lane of its own.
  Sampler(std::string name, std::string scope, std::string lane)
      : name_(std::move(name)), scope_(std::move(scope)), lane_(std::move(lane)) {}
  virtual ~Sampler() = default;
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  const std::string& name() const { return name_; }
  const std::string& scope() const { return scope_; }
  const std::string& lane() const { return lane_; }
  /// Least time between two readings, seconds: of sources that are slow, or move rarely.
  virtual double period_s() const { return 0; }
  /// What may take long before the first reading, on the thread of the readings.
  virtual void prepare() {}
  /// Fixed after prepare(), or after construction, which is when each metric is probed.
  virtual std::span<const Metric> metrics() const = 0;
  /// Sets out[i] for every metric that is not missing; out arrives without values. Returns "" or
  /// why this source must not be read again (the GPU is lost). Always on one thread at a time.
  virtual std::string read(std::span<Reading> out) = 0;
  /// From another thread: a prepare() or read() that waits for others is to come back soon.
  virtual void interrupt() {}
  /// Puts the results, one a metric, where they belong; none at all while prepare() has not ended.
  /// May be called while prepare() or read() blocks.
  virtual void place(std::span<const MetricResult> results, Telemetry& out) const = 0;

 private:
  std::string name_, scope_, lane_;
};

}  // namespace falcon
