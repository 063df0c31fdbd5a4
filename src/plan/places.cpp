#include "plan/places.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "falconbench/catalog.h"
#include "measure/link_rates.h"
#include "plan/declared_place.h"

namespace falcon::plan {
namespace {

using Text = Measured<std::string>;

Measured<double> raw_rate(const Measured<int>& generation, const Measured<int>& width) {
  if (!generation.has_value()) return Measured<double>::missing(generation.reason);
  if (!width.has_value()) return Measured<double>::missing(width.reason);
  Measured<double> rate = measure::pcie_raw_rate(*generation, *width);
  if (rate.has_value()) rate = *rate / 1e9;
  return rate;
}

Text text_or(const std::string& text, const char* reason) {
  return text.empty() ? Text::missing(reason) : Text(text);
}

Measured<std::int64_t> number_or(const std::optional<std::int64_t>& number, const char* reason) {
  return number ? Measured<std::int64_t>(*number) : Measured<std::int64_t>::missing(reason);
}

GpuPlace place_of(const Gpu& gpu, const std::string& name, const SystemGpu* declared,
                  const DeclaredPlaces& judge) {
  static const SystemGpu nothing;
  const SystemGpu& facts = declared == nullptr ? nothing : *declared;
  GpuPlace place = declared_place(name, facts,
                                  declared == nullptr ? "the system file does not name this GPU"
                                                      : "the system file does not say it");
  place.uuid = gpu.uuid;
  place.pci_address = gpu.pci_address;
  if (declared == nullptr) place.attach = judge.attach_seen(gpu);
  place.root_port = root_port_of(gpu.bridges);
  place.upstream =
      Text::missing(gpu.bridges.has_value() ? "no switch is above it" : gpu.bridges.reason);
  if (gpu.bridges.has_value() && is_behind_switch(*gpu.bridges)) place.upstream = (*gpu.bridges)[1];
  place.link_generation = gpu.pcie_generation;
  place.link_generation_max = gpu.pcie_generation_max;
  place.link_width = gpu.pcie_width;
  place.link_width_max = gpu.pcie_width_max;
  if (declared == nullptr) {
    place.verdict = kMatched;
    place.evidence = "named by its address: nothing is declared of its place";
    return place;
  }
  const Judgement judgement = judge.of_gpu(facts, gpu);
  place.verdict = judgement.verdict;
  place.evidence = judgement.evidence;
  return place;
}

Text path_between(const Host& host, const Gpu* a, const Gpu* b) {
  if (!host.gpu_paths.has_value()) return Text::missing(host.gpu_paths.reason);
  const auto index = [&](const Gpu* gpu) {
    return static_cast<std::size_t>(gpu - host.gpus.data());
  };
  return (*host.gpu_paths)[index(a)][index(b)];
}

std::vector<PairPlace> pairs_of(const Placement& placement, const std::vector<GpuPlace>& gpus,
                                const Host& host) {
  std::vector<PairPlace> pairs;
  for (std::size_t a = 0; a < gpus.size(); ++a) {
    for (std::size_t b = a + 1; b < gpus.size(); ++b) {
      PairPlace pair;
      pair.a = static_cast<int>(a);
      pair.b = static_cast<int>(b);
      pair.pair_class = pair_class(gpus[a], gpus[b]);
      pair.path = path_between(host, placement.gpus[a], placement.gpus[b]);
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

// The deepest mount that holds the folder.
const HostMount* mount_of(const std::vector<HostMount>& mounts, const std::string& folder) {
  const HostMount* found = nullptr;
  for (const HostMount& mount : mounts) {
    const bool holds =
        mount.folder == "/" || folder == mount.folder || folder.starts_with(mount.folder + "/");
    if (holds && (found == nullptr || mount.folder.size() >= found->folder.size())) found = &mount;
  }
  return found;
}

Measured<StoragePlace> storage_of(const std::string& name, const Host& host,
                                  const SystemFile& system, const DeclaredPlaces& judge) {
  const auto declared = system.storage.find(name);
  if (name.empty() || declared == system.storage.end()) {
    return Measured<StoragePlace>::missing("no storage is named");
  }
  StoragePlace place;
  place.name = name;
  place.host = host.hostname;
  place.mount = declared->second.mount;
  place.device = declared->second.device;
  place.attach = declared->second.attach;
  place.disks = Measured<std::vector<std::string>>::missing(host.mounts.reason);
  place.pci_address = place.root_port = Text::missing("the disk is not known");
  if (host.mounts.has_value()) {
    const HostMount* mount = mount_of(*host.mounts, place.mount);
    place.disks = mount != nullptr ? Measured<std::vector<std::string>>(mount->disks)
                                   : Measured<std::vector<std::string>>::missing(
                                         place.mount + " lies on no disk of this host");
  }
  if (place.disks.has_value()) {
    place.pci_address = place.root_port = Text::missing("not on one NVMe drive of this host");
    const std::vector<std::string>& disks = *place.disks;
    for (const NvmeDrive& drive : host.drives) {
      const bool carries = disks.size() == 1 && std::find(drive.disks.begin(), drive.disks.end(),
                                                          disks[0]) != drive.disks.end();
      if (!carries) continue;
      place.pci_address = text_or(drive.pci_address, "its address on PCI is not known");
      place.root_port = root_port_of(drive.bridges);
    }
  }
  const Judgement judgement = judge.of_storage(declared->second, place);
  place.verdict = judgement.verdict;
  place.evidence = judgement.evidence;
  return place;
}

std::string where(const GpuPlace& gpu) {
  if (!gpu.attach.has_value() || *gpu.attach == "local") return "host";
  std::string text = gpu.chassis.value.value_or("chassis");
  if (gpu.drawer.has_value()) text += " drawer " + std::to_string(*gpu.drawer);
  if (gpu.host_link.has_value()) text += " " + *gpu.host_link;
  return text;
}

std::vector<SharedUplink> uplinks_of(const Places& places, const Host& host) {
  std::vector<SharedUplink> uplinks;
  for (const PcieSwitch& one : host.switches) {
    SharedUplink uplink;
    for (const GpuPlace& gpu : places.gpus) {
      if (gpu.upstream.value != one.upstream) continue;
      uplink.devices.push_back(gpu.name);
      uplink.name = where(gpu);
    }
    if (places.storage.has_value() && places.storage.value->root_port.value == one.root_port) {
      uplink.devices.push_back(places.storage.value->name);
    }
    if (uplink.devices.size() < 2) continue;
    if (uplink.name == "host") uplink.name = "switch " + one.upstream;
    uplink.host = host.hostname;
    uplink.root_port = one.root_port;
    uplink.upstream = one.upstream;
    uplink.generation = one.generation;
    uplink.generation_max = one.generation_max;
    uplink.width = one.width;
    uplink.width_max = one.width_max;
    uplink.raw_gb_per_s = raw_rate(one.generation, one.width);
    uplinks.push_back(std::move(uplink));
  }
  return uplinks;
}

// local0 - local1 = falcon0 - falcon1 = local0: = leads from one place to another.
std::string ring_of(const std::vector<GpuPlace>& gpus) {
  if (gpus.size() < 2) return "";
  std::string text = gpus.front().name;
  int crossings = 0;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const GpuPlace& next = gpus[(i + 1) % gpus.size()];
    const bool stays = where(gpus[i]) == where(next);
    crossings += stays ? 0 : 1;
    text += (stays ? " - " : " = ") + next.name;
  }
  return text + " (" + std::to_string(crossings) + " steps between places)";
}

}  // namespace

GpuPlace declared_place(const std::string& name, const SystemGpu& facts, const char* why) {
  GpuPlace place;
  place.name = name;
  place.uuid = facts.uuid;
  place.pci_address = facts.pci_address;
  place.attach = facts.attach;
  place.chassis = text_or(facts.chassis, why);
  place.drawer = number_or(facts.drawer, why);
  place.host_link = text_or(facts.host_link, why);
  place.slot = number_or(facts.slot, why);
  place.emulated = facts.emulated;
  return place;
}

Measured<std::string> pair_class(const GpuPlace& a, const GpuPlace& b) {
  if (!a.attach.has_value()) return Text::missing(a.name + ": " + a.attach.reason);
  if (!b.attach.has_value()) return Text::missing(b.name + ": " + b.attach.reason);
  const auto word = [](std::size_t index) { return Text(catalog::pair_classes()[index].name); };
  const bool is_a_local = *a.attach == "local";
  const bool is_b_local = *b.attach == "local";
  if (is_a_local && is_b_local) return word(0);
  if (is_a_local || is_b_local) return word(1);
  if (!a.drawer.has_value() || !b.drawer.has_value()) {
    return Text::missing("the drawer of " + (a.drawer.has_value() ? b.name : a.name) +
                         " is not known");
  }
  if (a.chassis.value != b.chassis.value || *a.drawer != *b.drawer) return word(4);
  return a.host_link.value == b.host_link.value ? word(2) : word(3);
}

Places make_places(const Placement& placement, const Host& host, const SystemFile& system,
                   bool emulates, const std::string& storage) {
  const DeclaredPlaces judge(host, system);
  Places places;
  for (std::size_t i = 0; i < placement.gpus.size(); ++i) {
    const SystemGpu* declared = placement.declared[i];
    if (declared != nullptr && declared->emulated && !emulates) declared = nullptr;
    places.gpus.push_back(place_of(*placement.gpus[i], placement.names[i], declared, judge));
    places.gpus.back().host = host.hostname;
  }
  places.pairs = pairs_of(placement, places.gpus, host);
  places.storage = storage_of(storage, host, system, judge);
  places.uplinks = uplinks_of(places, host);
  places.order = ring_of(places.gpus);
  return places;
}

}  // namespace falcon::plan
