// What one process has used so far, from procfs.
#pragma once
#include <cstdint>

#include "falconbench/measured.h"
#include "platform/root.h"

namespace falcon::platform {

struct ProcessUsage {
  Measured<double> cpu_s;            // user and system, all threads, ended ones too
  Measured<std::int64_t> rss_bytes;  // resident now
  Measured<std::int64_t> page_faults, major_page_faults;  // the second: those that read storage
};
struct ProcessTraffic {
  Measured<std::int64_t> read_bytes;   // fetched from storage devices
  Measured<std::int64_t> write_bytes;  // sent towards storage devices
};

/// pid as seen below the root.
ProcessUsage process_usage(const Root& root, std::int64_t pid);
/// Needs the same user as the process.
ProcessTraffic process_traffic(const Root& root, std::int64_t pid);

}  // namespace falcon::platform
