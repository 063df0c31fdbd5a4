// Limits that a control group (container, systemd slice, batch job) puts on this process. Versions
// 1 and 2 and both at once; of nested limits the smallest counts.
#pragma once
#include <cstdint>
#include <string>

#include "platform/root.h"

namespace falcon::platform {

/// CgroupLimits::quota_cpus is missing for this reason when it is known that there is none.
inline constexpr const char* kNoQuota = "no quota";

struct CgroupLimits {
  Measured<double> quota_cpus;          // missing: kNoQuota, or why it is unknown
  Measured<std::int64_t> memory_bytes;  // missing: "no limit", or why it is unknown
  std::string cpu_stat;  // cpu.stat of the innermost group (path below the root); empty if unknown
};

CgroupLimits cgroup_limits(const Root& root);

}  // namespace falcon::platform
