#include "cli/predict_host.h"

#include <algorithm>

#include "falconbench/errors.h"
#include "plan/placement.h"
#include "plan/places.h"
#include "platform/dump/dump.h"
#include "platform/machine/host_places.h"
#include "platform/machine/machine.h"
#include "report/links/expectation.h"
#include "spec/system_file.h"

namespace falcon::cli {
namespace {

SystemFile system_of(const Host& host, const std::string& path) {
  SystemFile system;
  system.path = path;
  for (const Gpu& gpu : host.gpus) {
    SystemGpu& named = system.gpus[gpu.pci_address];
    named.pci_address = gpu.pci_address;
    named.uuid = gpu.uuid;
  }
  return system;
}

LinkDevice device_of(const Gpu& gpu) {
  LinkDevice device;
  device.pcie_generation_max = gpu.pcie_generation_max;
  device.pcie_width_max = gpu.pcie_width_max;
  device.compute_capability = gpu.compute_capability;
  return device;
}

bool has_speed(const SystemFile& system, const std::string& link_class) {
  const auto found = system.links.find(link_class);
  return found != system.links.end() &&
         (found->second.one_way_gb_per_s || found->second.both_ways_gb_per_s);
}

void add_usual_links(const Host& host, const std::string& topology, PlannedMachine& machine) {
  const plan::Placement placement = plan::place({topology, {}}, {}, host, machine.system);
  const Places places = plan::make_places(placement, host, machine.system, /*emulates=*/true, "");
  report::LinksInput input;
  for (const Gpu* gpu : placement.gpus) input.devices.push_back(device_of(*gpu));
  std::map<std::string, double> slowest;
  for (const PairPlace& pair : places.pairs) {
    const auto at = [&placement](int index) {
      return placement.declared[static_cast<std::size_t>(index)];
    };
    const Measured<std::string> link_class =
        plan::pair_class(plan::declared_place("", *at(pair.a), "the system file does not say it"),
                         plan::declared_place("", *at(pair.b), "the system file does not say it"));
    if (!link_class.has_value() || has_speed(machine.system, *link_class)) continue;
    const LinkExpectation usual =
        report::pair_expectation(input, pair.a, pair.b, pair.path, *link_class);
    if (!usual.practical_bytes_per_s.has_value()) {
      throw Error(ExitCode::kHost, "predict: the speed of " + *link_class + " links (" +
                                       pair.path.value.value_or("no path is known") +
                                       ") is not known: " + usual.practical_bytes_per_s.reason +
                                       "; declare it under links: of a system file");
    }
    const double rate = *usual.practical_bytes_per_s;
    const auto known = slowest.find(*link_class);
    if (known != slowest.end() && known->second <= rate) continue;
    slowest[*link_class] = rate;
    machine.usual_links[*link_class] = *pair.path + ", " + usual.practical_source;
  }
  for (const auto& [link_class, rate] : slowest) {
    machine.system.links[link_class].one_way_gb_per_s = rate / 1e9;
  }
}

}  // namespace

PlannedMachine planned_machine(const std::string& system_file, const std::string& host,
                               const std::string& topology) {
  PlannedMachine machine;
  if (!system_file.empty()) machine.system = spec::load_system_file(system_file);
  if (host.empty()) return machine;
  const platform::Dump dump = platform::read_dump(host);
  const Host described = platform::host_of(platform::make_machine(dump), dump, host);
  if (system_file.empty()) machine.system = system_of(described, host);
  add_usual_links(described, topology, machine);
  return machine;
}

}  // namespace falcon::cli
