// Samplers that are read one after another on one thread, and all that was read from them.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "falconbench/sampler.h"
#include "telemetry/track.h"

namespace falcon::telemetry {

/// A source that must not be read again, e.g. because its GPU fell off the bus.
struct LostSource {
  std::string sampler, scope, reason;
  double at_s = 0;
};

class Lane {
 public:
  Lane(std::vector<std::unique_ptr<Sampler>> samplers, bool with_series);

  /// One reading of every sampler that has something to read. clock: the time of each reading.
  void read(const std::function<double()>& clock);
  /// Reads every interval, at multiples of it from now on, until stop(). Runs on its own thread.
  void run(const std::function<double()>& clock, double interval_s);
  void ask_for_reading();
  void stop();
  bool wait_until_done(double timeout_s);

  void set_window(const Window& window);
  std::optional<LostSource> lost() const;
  double cpu_s() const;
  /// began_s: the zero of the series' times.
  void report(const Window& window, double began_s, Telemetry& out) const;

 private:
  struct Source {
    std::unique_ptr<Sampler> sampler;
    bool is_active = false;  // something to read, and not lost
    std::vector<Track> tracks;
    std::vector<Reading> readings;  // of the reading thread, outside of the mutex
    std::int64_t reads = 0;
    std::optional<double> first_s, newest_s;
    double longest_s = 0, reading_s = 0;
    std::string stopped;
  };
  void read_source(Source& source, const std::function<double()>& clock);
  bool wait_until(const std::function<double()>& clock, double deadline_s);
  SourceTelemetry describe(const Source& source) const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Source> sources_;
  bool with_series_;
  Window window_;
  bool is_asked_ = false, is_stopping_ = false, is_done_ = false;
  std::int64_t late_ = 0;
  double cpu_s_ = 0;
  std::optional<LostSource> lost_;
};

}  // namespace falcon::telemetry
