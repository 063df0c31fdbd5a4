#include "cli/links_places.h"

#include <set>
#include <string>

#include "plan/places.h"
#include "platform/access_control.h"
#include "platform/root.h"

namespace falcon::cli {
namespace {

using Text = Measured<std::string>;

LinkDevice make_device(int index, const DevicePlan& planned) {
  LinkDevice device;
  device.index = index;
  device.name = "cpu" + std::to_string(index);
  device.kind = planned.kind;
  device.uuid = planned.uuid;
  device.pci_address = planned.pci_address;
  device.product = planned.name;
  const std::string why = "the device is no GPU";
  device.attach = device.chassis = Text::missing(why);
  device.drawer = Measured<std::int64_t>::missing(why);
  device.numa_node = device.pcie_generation_max = device.pcie_width_max =
      Measured<int>::missing(why);
  device.compute_capability = Text::missing(why);
  return device;
}

void add_gpu(const Gpu& gpu, const GpuPlace& place, LinkDevice& device) {
  device.name = place.name;
  device.attach = place.attach;
  device.chassis = place.chassis;
  device.drawer = place.drawer;
  device.numa_node = gpu.numa_node;
  device.pcie_generation_max = gpu.pcie_generation_max;
  device.pcie_width_max = gpu.pcie_width_max;
  device.compute_capability = gpu.compute_capability;
}

}  // namespace

void find_link_places(const plan::Placement& placement, report::LinksInput& input) {
  input.places = plan::make_places(placement, input.host, input.system, /*emulates=*/false, "");
  input.acs_bridges = Measured<std::vector<std::string>>::missing("the devices are no GPUs");
  for (std::size_t i = 0; i < placement.devices.size(); ++i) {
    input.devices.push_back(make_device(static_cast<int>(i), placement.devices[i]));
    if (placement.on_gpu()) {
      add_gpu(*placement.gpus[i], input.places.gpus[i], input.devices.back());
    }
  }
  if (!placement.on_gpu()) return;
  std::set<std::string> bridges;
  for (const Gpu* gpu : placement.gpus) {
    if (!gpu->bridges.has_value()) {
      input.acs_bridges = Measured<std::vector<std::string>>::missing(gpu->bridges.reason);
      return;
    }
    bridges.insert(gpu->bridges.value->begin(), gpu->bridges.value->end());
  }
  input.acs_bridges =
      platform::redirecting_bridges(platform::Root(), {bridges.begin(), bridges.end()});
}

}  // namespace falcon::cli
