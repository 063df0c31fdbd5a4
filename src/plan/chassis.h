// Which chassis a run uses. Pure.
#pragma once
#include <map>
#include <string>

#include "falconbench/system_file.h"
#include "plan/placement.h"

namespace falcon::plan {

/// Those that hold a GPU of the placement or the named storage ("": none), by name, with a
/// management that can be asked. A GPU that only plays one of a chassis is not in it.
std::map<std::string, SystemChassis> managed_chassis(const Placement& placement,
                                                     const SystemFile& system,
                                                     const std::string& storage);

}  // namespace falcon::plan
