#include "plan/chassis.h"

#include <set>

namespace falcon::plan {

std::map<std::string, SystemChassis> managed_chassis(const Placement& placement,
                                                     const SystemFile& system,
                                                     const std::string& storage) {
  std::set<std::string> used;
  for (const SystemGpu* gpu : placement.declared) {
    if (gpu != nullptr && !gpu->emulated) used.insert(gpu->chassis);
  }
  const auto place = system.storage.find(storage);
  if (place != system.storage.end()) used.insert(place->second.chassis);
  std::map<std::string, SystemChassis> managed;
  for (const auto& [name, chassis] : system.chassis) {
    if (used.contains(name) && chassis.redfish) managed.emplace(name, chassis);
  }
  return managed;
}

}  // namespace falcon::plan
