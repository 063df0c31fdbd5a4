// What a folder lies on: mount, block devices below it, disks and their PCIe links. What cannot be
// followed (overlays, network file systems, pools) is missing with the reason.
#pragma once
#include <string>
#include <string_view>

#include "falconbench/report_storage.h"
#include "platform/root.h"

namespace falcon::platform {

/// folder: absolute, without links. The last of the longest mount points of /proc/self/mountinfo
/// (proc(5)) that hold the folder counts: it hides those below it.
StorageFacts storage_facts(const Root& root, const std::string& folder);
/// The same with links followed on this host; missing for an empty folder (synthetic data).
Measured<StorageFacts> find_storage(const std::string& folder);

}  // namespace falcon::platform
