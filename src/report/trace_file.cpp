#include "report/trace_file.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/value.h"
#include "falconbench/errors.h"

namespace falcon::report {
namespace {

std::string quoted(const std::string& text) {
  return base::to_json(base::Value(text));
}

std::vector<const WorkerRecords*> traced_ranks(const RunLog& log) {
  std::vector<const WorkerRecords*> ranks;
  for (const auto& records : log.records) {
    if (records && records->trace.has_value()) ranks.push_back(&*records);
  }
  return ranks;
}

/// A name that Perfetto shows for a process or thread.
void add_label(std::string& text, const char* what, int rank, std::size_t track,
               const std::string& label) {
  text += "{\"ph\":\"M\",\"name\":\"" + std::string(what) + "\",\"pid\":" + std::to_string(rank) +
          ",\"tid\":" + std::to_string(track) + ",\"args\":{\"name\":" + quoted(label) + "}},\n";
}

void add_rank(std::string& text, const WorkerRecords& rank, double begin_s) {
  const TraceRecord& trace = *rank.trace;
  const std::string device = rank.devices.empty() ? "" : ", " + rank.devices.front().name;
  add_label(text, "process_name", rank.rank, 0,
            "rank " + std::to_string(rank.rank) + ", " + rank.hostname + device);
  for (std::size_t i = 0; i < trace.tracks.size(); ++i) {
    add_label(text, "thread_name", rank.rank, i, trace.tracks[i]);
  }
  std::vector<std::string> names;
  for (const std::string& name : trace.names) names.push_back(quoted(name));
  const double offset_us = 1e6 * (trace.begin_s - begin_s);
  char place[128];
  for (std::size_t i = 0; i < trace.track.size(); ++i) {
    std::snprintf(place, sizeof place, ",\"pid\":%d,\"tid\":%lld,\"ts\":%.3f,\"dur\":%.3f},\n",
                  rank.rank, static_cast<long long>(trace.track[i]), offset_us + trace.begin_us[i],
                  trace.duration_us[i]);
    text += "{\"ph\":\"X\",\"name\":" + names[static_cast<std::size_t>(trace.name[i])] + place;
  }
}

}  // namespace

std::string trace_path(const std::string& report_path) {
  return std::filesystem::path(report_path).replace_extension(".trace").string();
}

std::string trace_text(const Plan& plan, const RunLog& log) {
  const std::vector<const WorkerRecords*> ranks = traced_ranks(log);
  double begin_s = std::numeric_limits<double>::infinity();
  for (const WorkerRecords* rank : ranks) begin_s = std::min(begin_s, (*rank->trace).begin_s);
  std::string text =
      "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"run_id\":" + quoted(plan.run_id) +
      ",\"name\":" + quoted(plan.spec.name) + "},\"traceEvents\":[\n";
  for (const WorkerRecords* rank : ranks) add_rank(text, *rank, begin_s);
  text.erase(text.size() - 2);  // the last comma
  return text + "\n]}\n";
}

Measured<std::string> write_trace(const std::string& report_path, const Plan& plan,
                                  const RunLog& log) {
  if (traced_ranks(log).empty()) {
    for (const auto& records : log.records) {
      if (records) return Measured<std::string>::missing(records->trace.reason);
    }
    return Measured<std::string>::missing(plan.spec.trace.steps == 0 ? kNoTrace
                                                                     : "no rank traced its steps");
  }
  const std::string path = trace_path(report_path);
  try {
    base::write_file_atomically(path, trace_text(plan, log));
  } catch (const Error& error) {
    return Measured<std::string>::missing(error.what());
  }
  return path;
}

}  // namespace falcon::report
