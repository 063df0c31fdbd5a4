// What a rank's trace holds (key `trace`): part of falconbench/records.h, and what the report says
// of it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/measured.h"

namespace falcon {

/// Why there is none where none was asked for.
inline constexpr const char* kNoTrace = "trace.steps is 0";

/// What happened on one rank in some steps after the measured ones, as columns: entry i of each of
/// the last four is event i. A track is a line of the picture: a GPU stream, a host thread, or the
/// steps and their phases.
struct TraceRecord {
  std::int64_t steps = 0;
  double begin_s = 0, end_s = 0;  // ends of the step before and of the last one, CLOCK_MONOTONIC
  std::vector<std::string> tracks, names;
  std::vector<std::int64_t> track, name;      // places in the lists above
  std::vector<double> begin_us, duration_us;  // begin_us: from begin_s; below 0: before it
  Measured<double> gpu_busy_pct;  // of begin_s..end_s: time with a kernel or copy on the device
};
template <class V>
void visit_fields(TraceRecord& t, V& v) {
  v.field("steps", t.steps, "traced steps");
  v.field("begin_s", t.begin_s, "end of the step before them, steady clock");
  v.field("end_s", t.end_s, "end of the last one, steady clock");
  v.field("tracks", t.tracks, "lines of the picture");
  v.field("names", t.names, "names of events, each once");
  v.field("track", t.track, "of each event: place in tracks");
  v.field("name", t.name, "of each event: place in names");
  v.field("begin_us", t.begin_us, "of each event: microseconds after begin_s");
  v.field("duration_us", t.duration_us, "of each event");
  v.field("gpu_busy_pct", t.gpu_busy_pct, "time with a kernel or a copy on the GPU");
}

/// training.trace of the report.
struct TraceFigures {
  std::string file;
  std::int64_t steps = 0;
  double step_ms = 0;
  std::int64_t events = 0;
  Measured<double> gpu_busy_pct;
};
template <class V>
void visit_fields(TraceFigures& t, V& v) {
  v.field("file", t.file,
          "Chrome trace events (JSON), one timeline of all ranks: ui.perfetto.dev reads it");
  v.field("steps", t.steps, "traced steps: training went on for them after the measured ones");
  v.field("step_ms", t.step_ms, "their mean, slowed down by being traced; mean over ranks");
  v.field("events", t.events, "slices in the file");
  v.field("gpu_busy_pct", t.gpu_busy_pct,
          "share of these steps in which a kernel or copy was on the GPU, mean over ranks: what is "
          "missing are launch gaps");
}

}  // namespace falcon
