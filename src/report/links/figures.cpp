#include "report/links/figures.h"

#include <algorithm>

#include "measure/statistics.h"

namespace falcon::report {
namespace {

double payload_bytes(const LinkWindows& windows, std::size_t flows) {
  return static_cast<double>(windows.size_bytes) * static_cast<double>(windows.repeats) *
         static_cast<double>(flows);
}

Spread rate(double bytes, const std::vector<double>& seconds) {
  std::vector<double> rates;
  for (const double time_s : seconds) {
    if (time_s > 0) rates.push_back(bytes / time_s);
  }
  return spread_of(std::move(rates));
}

/// Of each window the slowest rank's.
std::vector<double> slowest(const std::vector<const LinkResult*>& ranks, std::size_t size) {
  std::vector<double> seconds = ranks.front()->by_size.at(size).seconds;
  for (const LinkResult* rank : ranks) {
    const std::vector<double>& own = rank->by_size.at(size).seconds;
    for (std::size_t i = 0; i < seconds.size(); ++i) seconds[i] = std::max(seconds[i], own.at(i));
  }
  return seconds;
}

CollectiveFigure collective_figure(const std::string& operation,
                                   const std::vector<const LinkResult*>& ranks, std::size_t size) {
  const LinkWindows& first = ranks.front()->by_size.at(size);
  CollectiveFigure figure;
  figure.size_bytes = first.size_bytes;
  figure.calls = first.repeats;
  std::vector<double> seconds = slowest(ranks, size);
  for (double& time_s : seconds) time_s /= static_cast<double>(first.repeats);
  figure.time_s = spread_of(std::move(seconds));
  const Measured<double>& median = figure.time_s.median;
  figure.bus_bytes_per_s =
      median.has_value() && *median > 0
          ? Measured<double>(static_cast<double>(first.size_bytes) / *median *
                             bus_factor(operation, static_cast<std::int64_t>(ranks.size())))
          : Measured<double>::missing("there is no time of a call");
  figure.contents_match = std::all_of(ranks.begin(), ranks.end(), [size](const LinkResult* rank) {
    return rank->by_size.at(size).contents_match;
  });
  return figure;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  Spread spread;
  spread.count = static_cast<std::int64_t>(values.size());
  if (values.empty()) {
    spread.median = spread.min = spread.max = Measured<double>::missing("not measured");
    return spread;
  }
  std::sort(values.begin(), values.end());
  spread.median = measure::percentile(values, 0.5);
  spread.min = values.front();
  spread.max = values.back();
  return spread;
}

Spread copy_rate(const LinkWindows& windows, std::size_t flows) {
  return rate(payload_bytes(windows, flows), windows.seconds);
}

Spread flow_rate(const LinkWindows& windows, std::size_t flow) {
  return rate(payload_bytes(windows, 1), windows.flow_seconds.at(flow));
}

Spread copy_time(const LinkWindows& windows) {
  std::vector<double> times;
  for (const double time_s : windows.seconds) {
    times.push_back(time_s / static_cast<double>(std::max<std::int64_t>(1, windows.repeats)));
  }
  return spread_of(std::move(times));
}

CopySeries copy_series(const CopyTask& task, const LinkResult& result) {
  CopySeries series;
  series.method = task.method;
  series.both_ways = task.flows.size() > 1;
  series.peer_to_peer = task.peer_to_peer;
  series.bytes_per_s = Measured<double>::missing(result.error);
  for (const LinkWindows& windows : result.by_size) {
    if (windows.size_bytes == kLatencyBytes) continue;
    CopyFigure figure;
    figure.size_bytes = windows.size_bytes;
    figure.copies = windows.repeats;
    figure.bytes_per_s = copy_rate(windows, task.flows.size());
    figure.contents_match = windows.contents_match;
    series.by_size.push_back(std::move(figure));
    series.bytes_per_s = series.by_size.back().bytes_per_s.median;
  }
  return series;
}

double bus_factor(const std::string& operation, std::int64_t ranks) {
  const double n = static_cast<double>(ranks);
  if (operation == "broadcast") return 1;
  return (operation == "all_reduce" ? 2 : 1) * (n - 1) / n;
}

CollectiveSeries collective_series(const std::string& operation,
                                   const std::vector<const LinkResult*>& ranks) {
  CollectiveSeries series;
  series.operation = operation;
  series.ranks = static_cast<std::int64_t>(ranks.size());
  for (std::size_t size = 0; size < ranks.front()->by_size.size(); ++size) {
    series.by_size.push_back(collective_figure(operation, ranks, size));
    series.bus_bytes_per_s = series.by_size.back().bus_bytes_per_s;
  }
  return series;
}

}  // namespace falcon::report
