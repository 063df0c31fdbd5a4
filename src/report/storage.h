// What the training data lies on.
#pragma once
#include <string>
#include <string_view>

#include "falconbench/report_places.h"
#include "falconbench/telemetry.h"
#include "report/evidence.h"

namespace falcon::report {

/// folder: absolute, without links. mountinfo: text of /proc/self/mountinfo (proc(5)). The last of
/// the longest mount points that hold the folder counts: it hides those below it.
StorageFacts storage_facts(const std::string& folder, std::string_view mountinfo);
/// The same for this process; missing for an empty folder (synthetic data) or unreadable mountinfo.
Measured<StorageFacts> find_storage(const std::string& folder);

Storage make_storage(const Evidence& evidence, const Utilization& utilization,
                     const Measured<StorageFacts>& facts);

}  // namespace falcon::report
