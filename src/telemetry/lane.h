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
#include "telemetry/raw_log.h"
#include "telemetry/track.h"

namespace falcon::telemetry {

/// A source that must not be read again, e.g. because its GPU fell off the bus.
struct LostSource {
  std::string sampler, scope, reason;
  double at_s = 0;
};

class Lane {
 public:
  /// raw: where readings go as they are; may be null.
  Lane(std::vector<std::unique_ptr<Sampler>> samplers, bool with_series,
       std::shared_ptr<RawLog> raw);

  enum class Round {
    kDue,    // what is due by its period
    kAsked,  // all that was not read just before
  };
  /// One reading of samplers that have something to read. clock: the time of each reading.
  void read(const std::function<double()>& clock, Round round);
  /// Reads every interval (or the period of its samplers, where all have a longer one), at
  /// multiples of it from now on, until stop(). Runs on its own thread.
  void run(const std::function<double()>& clock, double interval_s);
  void ask_for_reading();
  void stop();
  void interrupt();
  bool wait_until_done(double timeout_s);

  void set_window(const Window& window);
  std::optional<LostSource> lost() const;
  double cpu_s() const;
  /// began_s: the zero of the series' times.
  void report(const Window& window, double began_s, Telemetry& out) const;

 private:
  struct Source {
    std::unique_ptr<Sampler> sampler;
    bool is_prepared = false;
    bool is_active = false;  // something to read, and not lost
    std::vector<Track> tracks;
    std::vector<Reading> readings;  // of the reading thread, outside of the mutex
    std::int64_t reads = 0;
    std::optional<double> first_s, newest_s;
    double longest_s = 0, reading_s = 0;
    std::string stopped;
  };
  void add_tracks(Source& source);
  void prepare(Source& source);
  static const std::string& scope_of(const Source& source, const Metric& metric);
  bool is_due(const Source& source, double now_s, Round round) const;
  void read_source(Source& source, const std::function<double()>& clock);
  void write_raw(const Source& source, double now_s);
  std::optional<Round> wait_until(const std::function<double()>& clock, double deadline_s);
  SourceTelemetry describe(const Source& source) const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Source> sources_;
  bool with_series_;
  std::shared_ptr<RawLog> raw_;
  double interval_s_ = 0;  // of run()
  Window window_;
  bool is_asked_ = false, is_stopping_ = false, is_done_ = false;
  std::int64_t late_ = 0;
  double cpu_s_ = 0;
  std::optional<LostSource> lost_;
};

}  // namespace falcon::telemetry
