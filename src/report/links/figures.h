// From windows of time to figures. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "falconbench/links_parts.h"
#include "falconbench/links_work.h"

namespace falcon::report {

Spread spread_of(std::vector<double> values);

/// Payload over time of every window. flows: copies that run at the same time, all counted.
Spread copy_rate(const LinkWindows& windows, std::size_t flows);
/// The same of one of several flows.
Spread flow_rate(const LinkWindows& windows, std::size_t flow);
/// Time of one copy or load.
Spread copy_time(const LinkWindows& windows);

/// All sizes but that of latencies.
CopySeries copy_series(const CopyTask& task, const LinkResult& result);

/// The factor between size / time and bus bandwidth, as nccl-tests defines it (doc/PERFORMANCE.md).
double bus_factor(const std::string& operation, std::int64_t ranks);

/// One operation from the windows of all ranks: the slowest rank of each window counts. REQUIRES: a
/// rank at least, all with the same sizes and windows.
CollectiveSeries collective_series(const std::string& operation,
                                   const std::vector<const LinkResult*>& ranks);

}  // namespace falcon::report
