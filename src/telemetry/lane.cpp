#include "telemetry/lane.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "falconbench/clock.h"

namespace falcon::telemetry {
namespace {

constexpr double kSixDigits = 1e6;
// A reading that is asked for is left out where the newest one is not older: the counters behind
// slow sources move no faster.
constexpr double kFreshS = 0.1;

// Series are for looking at: 6 digits halve the report's size.
double shortened(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::pow(10.0, std::floor(std::log10(std::fabs(value))));
  return std::round(value / unit * kSixDigits / 10) / (kSixDigits / 10) * unit;
}

Series to_series(const Track& track, const std::string& scope, double began_s) {
  Series series;
  series.scope = scope;
  series.metric = track.metric().name;
  const bool is_merged = track.series().readings_per_point() > 1;
  for (const SeriesBuffer::Point& point : track.series().points()) {
    series.t_s.push_back(std::round((point.t_s - began_s) * 1e3) / 1e3);
    series.values.push_back(shortened(point.value()));
    if (!is_merged) continue;
    series.min.push_back(shortened(point.min));
    series.max.push_back(shortened(point.max));
  }
  return series;
}

}  // namespace

Lane::Lane(std::vector<std::unique_ptr<Sampler>> samplers, bool with_series,
           std::shared_ptr<RawLog> raw)
    : with_series_(with_series), raw_(std::move(raw)) {
  for (std::unique_ptr<Sampler>& sampler : samplers) {
    sources_.emplace_back().sampler = std::move(sampler);
    add_tracks(sources_.back());
  }
}

void Lane::add_tracks(Source& source) {
  source.tracks.clear();
  for (Metric metric : source.sampler->metrics()) {
    metric.series = metric.series && with_series_;
    source.is_active = source.is_active || metric.missing.empty();
    source.tracks.emplace_back(std::move(metric));
  }
  source.readings.resize(source.tracks.size());
}

void Lane::prepare(Source& source) {
  source.sampler->prepare();
  const std::lock_guard lock(mutex_);
  add_tracks(source);
  source.is_prepared = true;
}

bool Lane::is_due(const Source& source, double now_s, Round round) const {
  if (!source.newest_s) return true;
  const double period_s = source.sampler->period_s();
  if (round == Round::kAsked) return now_s - *source.newest_s >= std::min(kFreshS, period_s);
  // Half an interval early is the nearest of its multiples.
  return now_s + interval_s_ / 2 >= *source.newest_s + period_s;
}

const std::string& Lane::scope_of(const Source& source, const Metric& metric) {
  return metric.scope.empty() ? source.sampler->scope() : metric.scope;
}

void Lane::read_source(Source& source, const std::function<double()>& clock) {
  for (Reading& reading : source.readings) reading = Reading();
  const double now_s = clock();
  std::string stopped = source.sampler->read(source.readings);
  const double took_s = clock() - now_s;
  if (raw_) write_raw(source, now_s);
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < source.tracks.size(); ++i) {
    if (!source.tracks[i].metric().missing.empty()) continue;
    source.tracks[i].add(now_s, source.newest_s, source.readings[i], window_);
  }
  if (source.newest_s) source.longest_s = std::max(source.longest_s, now_s - *source.newest_s);
  if (!source.first_s) source.first_s = now_s;
  source.newest_s = now_s;
  source.reading_s += took_s;
  ++source.reads;
  if (stopped.empty()) return;
  source.is_active = false;
  source.stopped = stopped;
  if (!lost_) {
    lost_ = LostSource{source.sampler->name(), source.sampler->scope(), std::move(stopped), now_s};
  }
}

void Lane::write_raw(const Source& source, double now_s) {
  for (std::size_t i = 0; i < source.tracks.size(); ++i) {
    const Metric& metric = source.tracks[i].metric();
    if (!metric.missing.empty()) continue;
    raw_->add(now_s, source.sampler->name(), scope_of(source, metric), metric, source.readings[i]);
  }
}

void Lane::read(const std::function<double()>& clock, Round round) {
  const double before_s = thread_cpu_s();
  for (Source& source : sources_) {
    if (!source.is_prepared) prepare(source);
    if (source.is_active && is_due(source, clock(), round)) read_source(source, clock);
  }
  const std::lock_guard lock(mutex_);
  cpu_s_ += thread_cpu_s() - before_s;
}

// Which readings are to be taken now, once the deadline passed or some were asked for. None: stop.
std::optional<Lane::Round> Lane::wait_until(const std::function<double()>& clock,
                                            double deadline_s) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (std::exchange(is_asked_, false)) return Round::kAsked;
    if (is_stopping_) return {};
    const double left_s = deadline_s - clock();
    if (left_s <= 0) return Round::kDue;
    changed_.wait_for(lock, std::chrono::duration<double>(left_s));
  }
}

void Lane::run(const std::function<double()>& clock, double interval_s) {
  double shortest_s = std::numeric_limits<double>::infinity();
  for (const Source& source : sources_) {
    shortest_s = std::min(shortest_s, source.sampler->period_s());
  }
  interval_s_ = std::max(interval_s, sources_.empty() ? 0 : shortest_s);
  double deadline_s = clock();
  while (const auto round = wait_until(clock, deadline_s)) {
    read(clock, *round);
    const double now_s = clock();
    if (now_s < deadline_s) continue;  // asked for, between two deadlines
    const double passed = std::floor((now_s - deadline_s) / interval_s_);
    deadline_s += (passed + 1) * interval_s_;
    const std::lock_guard lock(mutex_);
    late_ += static_cast<std::int64_t>(passed);
  }
  const std::lock_guard lock(mutex_);
  is_done_ = true;
  changed_.notify_all();
}

void Lane::ask_for_reading() {
  const std::lock_guard lock(mutex_);
  is_asked_ = true;
  changed_.notify_all();
}

void Lane::stop() {
  const std::lock_guard lock(mutex_);
  is_stopping_ = true;
  changed_.notify_all();
}

// Sources and their samplers stay where they are after construction.
void Lane::interrupt() {
  for (const Source& source : sources_) source.sampler->interrupt();
}

bool Lane::wait_until_done(double timeout_s) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(timeout_s),
                           [this] { return is_done_; });
}

void Lane::set_window(const Window& window) {
  const std::lock_guard lock(mutex_);
  window_ = window;
}

std::optional<LostSource> Lane::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

double Lane::cpu_s() const {
  const std::lock_guard lock(mutex_);
  return cpu_s_;
}

SourceTelemetry Lane::describe(const Source& source) const {
  SourceTelemetry out;
  out.sampler = source.sampler->name();
  out.scope = source.sampler->scope();
  out.reads = source.reads;
  out.late = late_;
  out.stopped = source.stopped;
  if (source.reads > 0) out.read_ms = 1e3 * source.reading_s / static_cast<double>(source.reads);
  if (source.reads > 1) {
    out.interval_ms =
        1e3 * (*source.newest_s - *source.first_s) / static_cast<double>(source.reads - 1);
    out.interval_max_ms = 1e3 * source.longest_s;
  } else {
    out.interval_ms = Measured<double>::missing("fewer than two readings");
    out.interval_max_ms = out.interval_ms;
  }
  for (const Track& track : source.tracks) {
    if (track.metric().missing.empty() || track.metric().is_rare) continue;
    out.unsupported.push_back(track.metric().name + ": " + track.metric().missing);
  }
  return out;
}

void Lane::report(const Window& window, double began_s, Telemetry& out) const {
  const std::lock_guard lock(mutex_);
  for (const Source& source : sources_) {
    std::vector<MetricResult> results;
    for (const Track& track : source.tracks) {
      results.push_back(track.result(window, source.newest_s));
    }
    source.sampler->place(results, out);
    out.utilization.sources.push_back(describe(source));
    for (const Track& track : source.tracks) {
      if (track.series().points().empty()) continue;
      const Metric& metric = track.metric();
      const std::string& scope = scope_of(source, metric);
      out.series[scope + "/" + metric.name] = to_series(track, scope, began_s);
    }
  }
}

}  // namespace falcon::telemetry
