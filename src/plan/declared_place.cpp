#include "plan/declared_place.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/text.h"

namespace falcon::plan {
namespace {

constexpr const char* kGuest =
    "this is a virtual machine: the PCIe tree is what its hypervisor makes of it";

std::string drawer_text(const std::string& chassis, const std::optional<std::int64_t>& drawer) {
  std::string text = drawer ? "drawer " + std::to_string(*drawer) : "";
  if (!chassis.empty()) text += (text.empty() ? "" : " of ") + chassis;
  return text.empty() ? "the chassis" : text;
}

std::string link_text(const std::string& link, const std::string& drawer,
                      const std::string& chassis) {
  return "host link " + link + " of drawer " + drawer + " of " + chassis;
}

bool has_nvlink(const Gpu& gpu) {
  return gpu.nvlinks.has_value() && *gpu.nvlinks > 0;
}

bool leads_here(const SystemHostLink& link, const Host& host) {
  return link.host.empty() || link.host == host.hostname;
}

bool is_same_drawer(const SystemGpu& a, const SystemGpu& b) {
  return a.attach == "falcon" && b.attach == "falcon" && a.chassis == b.chassis && a.drawer &&
         a.drawer == b.drawer && a.host_link == b.host_link;
}

Judgement matched(std::string evidence) {
  return {kMatched, std::move(evidence)};
}
Judgement mismatched(std::string evidence) {
  return {kMismatched, std::move(evidence)};
}
Judgement unknown(std::string evidence) {
  return {kUnknown, std::move(evidence)};
}

// "nvme1n1" for a disk, its partition and a link that leads to one.
bool is_on_disk(const std::string& device, const std::string& disk) {
  std::error_code ignored;
  const auto real = std::filesystem::weakly_canonical(device, ignored);
  for (const std::string& name :
       {std::filesystem::path(device).filename().string(), real.filename().string()}) {
    if (name == disk) return true;
    if (!name.starts_with(disk)) continue;
    std::string part = name.substr(disk.size());
    if (part.starts_with('p')) part.erase(0, 1);
    const bool is_number = !part.empty() && part.find_first_not_of("0123456789") == part.npos;
    if (is_number) return true;
  }
  return false;
}

}  // namespace

Measured<std::string> root_port_of(const Measured<std::vector<std::string>>& bridges) {
  using Text = Measured<std::string>;
  if (!bridges.has_value()) return Text::missing(bridges.reason);
  if (bridges.value->empty()) return Text::missing("it is on the root complex itself");
  return bridges.value->front();
}

bool is_behind_switch(const std::vector<std::string>& bridges) {
  return bridges.size() >= 3;
}

DeclaredPlaces::DeclaredPlaces(const Host& host, const SystemFile& system)
    : host_(host), system_(system) {}

const SystemGpu* DeclaredPlaces::declaration_of(const Gpu& gpu) const {
  for (const auto& [name, declared] : system_.gpus) {
    const bool is_uuid = !declared.uuid.empty() && declared.uuid == gpu.uuid;
    if (is_uuid || (!declared.pci_address.empty() && declared.pci_address == gpu.pci_address)) {
      return &declared;
    }
  }
  return nullptr;
}

bool DeclaredPlaces::is_below_board_switch(const std::string& root_port) const {
  return std::any_of(host_.gpus.begin(), host_.gpus.end(), [&](const Gpu& gpu) {
    return has_nvlink(gpu) && root_port_of(gpu.bridges).value == root_port;
  });
}

// The link that the system file says is plugged into this port; "": none.
std::string DeclaredPlaces::chassis_at(const std::string& root_port) const {
  for (const auto& [chassis, facts] : system_.chassis) {
    for (const auto& [number, drawer] : facts.drawers) {
      for (const auto& [name, link] : drawer.host_links) {
        if (leads_here(link, host_) && link.root_port == root_port) {
          return link_text(name, number, chassis);
        }
      }
    }
  }
  return "";
}

// The GPU declared falcon whose switch is of the same model as the one below this port; "": none.
std::string DeclaredPlaces::chassis_of_model(const std::string& root_port) const {
  const auto model_at = [this](const std::string& port) -> std::string {
    for (const PcieSwitch& one : host_.switches) {
      if (one.root_port == port) return one.model;
    }
    return "";
  };
  const std::string model = model_at(root_port);
  if (model.empty()) return "";
  for (const Gpu& gpu : host_.gpus) {
    const auto port = root_port_of(gpu.bridges);
    if (has_nvlink(gpu) && port.has_value() && model_at(*port) == model) return "";
  }
  for (const auto& [name, declared] : system_.gpus) {
    if (declared.attach != "falcon") continue;
    for (const Gpu& gpu : host_.gpus) {
      const auto port = root_port_of(gpu.bridges);
      if (declaration_of(gpu) == &declared && port.has_value() && model_at(*port) == model) {
        return name;
      }
    }
  }
  return "";
}

Measured<std::string> DeclaredPlaces::attach_seen(const Gpu& gpu) const {
  using Text = Measured<std::string>;
  const auto port = root_port_of(gpu.bridges);
  const bool is_guest = host_.virtual_machine.has_value();
  if (!is_guest && port.has_value() && !chassis_at(*port).empty()) return std::string("falcon");
  if (has_nvlink(gpu)) return std::string("local");
  if (is_guest) return Text::missing(kGuest);
  if (!gpu.bridges.has_value()) return Text::missing(gpu.bridges.reason);
  if (!is_behind_switch(*gpu.bridges)) return std::string("local");
  if (is_below_board_switch(*port)) return std::string("local");
  return Text::missing("it is behind the switch at " + (*gpu.bridges)[1] +
                       ", which may be on the board or in a chassis: say so in a system file");
}

Judgement DeclaredPlaces::of_gpu(const SystemGpu& declared, const Gpu& seen) const {
  if (!declared.pci_address.empty() && declared.pci_address != seen.pci_address) {
    return mismatched("declared at " + declared.pci_address + ", but " + seen.uuid + " is at " +
                      seen.pci_address + ": it was moved or swapped");
  }
  if (declared.emulated) {
    return matched("emulated: the GPU at " + seen.pci_address +
                   " sits in the host and plays one of " +
                   drawer_text(declared.chassis, declared.drawer));
  }
  if (declared.attach == "local") return of_local(seen);
  return of_falcon(declared, seen);
}

Judgement DeclaredPlaces::of_local(const Gpu& seen) const {
  const bool is_guest = host_.virtual_machine.has_value();
  if (has_nvlink(seen) && (is_guest || !seen.bridges.has_value())) {
    return matched("it has " + std::to_string(*seen.nvlinks) + " links of NVLink");
  }
  if (is_guest) return unknown(kGuest);
  if (!seen.bridges.has_value()) return unknown(seen.bridges.reason);
  const auto port = root_port_of(seen.bridges);
  if (!port.has_value()) return matched(port.reason);
  if (const std::string link = chassis_at(*port); !link.empty()) {
    return mismatched("declared local, but it is behind root port " + *port + ", where " + link +
                      " is plugged in");
  }
  if (!is_behind_switch(*seen.bridges)) {
    return matched("below root port " + *port + " of the board, with no switch between");
  }
  const std::string at = "behind the switch at " + (*seen.bridges)[1];
  if (is_below_board_switch(*port)) return matched(at + ", whose GPUs have NVLink");
  for (const Gpu& other : host_.gpus) {
    const SystemGpu* declared = declaration_of(other);
    if (declared == nullptr || declared->attach != "falcon" || declared->emulated) continue;
    if (root_port_of(other.bridges).value != *port) continue;
    return mismatched("declared local, but it is " + at + " with " + other.pci_address +
                      ", which is declared falcon");
  }
  if (const std::string other = chassis_of_model(*port); !other.empty()) {
    return mismatched("declared local, but it is " + at + ", of the same kind as the one above " +
                      other + ", which is declared falcon");
  }
  if (knows_chassis_ports()) {
    return matched(at + ", at none of the ports where the chassis is plugged in");
  }
  return unknown(at +
                 "; a switch on the board and one in a chassis look alike, unless the system "
                 "file gives the root_port of the chassis' host links");
}

Judgement DeclaredPlaces::of_falcon(const SystemGpu& declared, const Gpu& seen) const {
  if (host_.virtual_machine.has_value()) return unknown(kGuest);
  if (!seen.bridges.has_value()) return unknown(seen.bridges.reason);
  const auto port = root_port_of(seen.bridges);
  if (!is_behind_switch(*seen.bridges)) {
    return mismatched(
        "declared falcon, but it sits on the board: " +
        (port.has_value() ? "below root port " + *port + " with no switch between" : port.reason));
  }
  const SystemHostLink* link = system_.link_of(declared);
  if (link == nullptr || link->root_port.empty()) return without_port(declared, seen);
  const std::string where =
      link_text(declared.host_link, std::to_string(*declared.drawer), declared.chassis);
  if (link->root_port == *port) {
    return matched("behind root port " + *port + ", where " + where + " is plugged in");
  }
  return mismatched("declared falcon, but it is behind root port " + *port + ", while " + where +
                    " is plugged into " + link->root_port);
}

// Where the file does not say which port the chassis is plugged into.
Judgement DeclaredPlaces::without_port(const SystemGpu& declared, const Gpu& seen) const {
  const std::string port = seen.bridges.value->front();
  const std::string at = "behind the switch at " + (*seen.bridges)[1];
  bool has_board_gpus = false;
  const std::size_t own = static_cast<std::size_t>(&seen - host_.gpus.data());
  for (std::size_t i = 0; i < host_.gpus.size(); ++i) {
    const Gpu& other = host_.gpus[i];
    const auto other_port = root_port_of(other.bridges);
    if (i == own || !other_port.has_value()) continue;
    const bool is_linked =
        host_.gpu_paths.has_value() && (*host_.gpu_paths)[own][i].starts_with("NV");
    if (is_linked && *other_port != port) {
      return mismatched("declared falcon, but it has NVLink to " + other.pci_address +
                        ", which is not behind the same switch");
    }
    const SystemGpu* beside = declaration_of(other);
    if (beside != nullptr && *other_port == port && beside->attach == "local") {
      return mismatched("declared falcon, but it is " + at + " with " + other.pci_address +
                        ", which is declared local");
    }
    if (beside != nullptr && *other_port != port && is_same_drawer(declared, *beside)) {
      return mismatched("declared in " + drawer_text(declared.chassis, declared.drawer) + " with " +
                        other.pci_address + ", but they are not behind the same switch");
    }
    has_board_gpus = has_board_gpus || has_nvlink(other);
  }
  if (has_board_gpus && !has_nvlink(seen)) {
    return matched(at + " without NVLink, on a machine whose board has GPUs with NVLink");
  }
  return unknown(at +
                 "; a switch on the board and one in a chassis look alike, unless the system "
                 "file gives the root_port of the drawer's host link");
}

// Whether the file or a GPU that it declares falcon says that a chassis is plugged into this port.
bool DeclaredPlaces::is_chassis_port(const std::string& port) const {
  if (!chassis_at(port).empty()) return true;
  return std::any_of(host_.gpus.begin(), host_.gpus.end(), [&](const Gpu& gpu) {
    const SystemGpu* declared = declaration_of(gpu);
    return declared != nullptr && declared->attach == "falcon" && !declared->emulated &&
           root_port_of(gpu.bridges).value == port &&
           of_falcon(*declared, gpu).verdict != kMismatched;
  });
}

// Whether the file gives the port of every cable to this host, and there is one.
bool DeclaredPlaces::knows_chassis_ports() const {
  bool knows_one = false;
  for (const auto& [name, facts] : system_.chassis) {
    for (const auto& [number, drawer] : facts.drawers) {
      if (drawer.host_links.empty()) return false;
      for (const auto& [link_name, link] : drawer.host_links) {
        if (!leads_here(link, host_)) continue;
        if (link.root_port.empty()) return false;
        knows_one = true;
      }
    }
  }
  return knows_one;
}

// A drive that is declared falcon.
Judgement DeclaredPlaces::of_falcon_drive(const SystemStorage& declared, const std::string& port,
                                          const std::string& at) const {
  if (!is_chassis_port(port)) return mismatched(at + ", where no chassis is plugged in");
  SystemGpu place;
  place.chassis = declared.chassis;
  place.drawer = declared.drawer;
  if (const SystemDrawer* drawer = system_.drawer_of(place)) {
    std::vector<std::string> ports;
    for (const auto& [name, link] : drawer->host_links) {
      if (!link.root_port.empty()) ports.push_back(link.root_port);
    }
    if (!ports.empty() && std::find(ports.begin(), ports.end(), port) == ports.end()) {
      return mismatched(at + ", while " + drawer_text(declared.chassis, declared.drawer) +
                        " is plugged into " + base::join(ports, ", "));
    }
  }
  return matched(at + ", where a chassis is plugged in");
}

// Where it is not known what carries the mount: the declared device alone can contradict.
Judgement DeclaredPlaces::of_device(const SystemStorage& declared, const std::string& gap) const {
  for (const NvmeDrive& drive : host_.drives) {
    const bool is_it = std::any_of(drive.disks.begin(), drive.disks.end(), [&](const auto& disk) {
      return is_on_disk(declared.device, disk);
    });
    const auto port = root_port_of(drive.bridges);
    if (!is_it || !port.has_value() || host_.virtual_machine.has_value()) continue;
    const std::string at = declared.device + " is below root port " + *port;
    if (declared.attach == "falcon") {
      const Judgement place = of_falcon_drive(declared, *port, at);
      return place.verdict == kMismatched ? place : unknown(place.evidence + "; but " + gap);
    }
    if (is_chassis_port(*port)) return mismatched(at + ", where a chassis is plugged in");
    return unknown(at + "; but " + gap);
  }
  return unknown(gap);
}

Judgement DeclaredPlaces::of_storage(const SystemStorage& declared,
                                     const StoragePlace& seen) const {
  if (!seen.disks.has_value()) return of_device(declared, seen.disks.reason);
  const std::string lies_on = seen.mount + " lies on " + base::join(*seen.disks, ", ");
  const bool is_declared_disk =
      std::any_of(seen.disks.value->begin(), seen.disks.value->end(),
                  [&](const std::string& disk) { return is_on_disk(declared.device, disk); });
  if (!declared.device.empty() && !is_declared_disk) {
    return mismatched(lies_on + ", declared is " + declared.device);
  }
  if (host_.virtual_machine.has_value()) return unknown(lies_on + "; " + kGuest);
  if (!seen.root_port.has_value()) return unknown(lies_on + "; " + seen.root_port.reason);
  const std::string at = lies_on + ", below root port " + *seen.root_port;
  if (declared.attach == "falcon") return of_falcon_drive(declared, *seen.root_port, at);
  if (is_chassis_port(*seen.root_port)) return mismatched(at + ", where a chassis is plugged in");
  const auto drive =
      std::find_if(host_.drives.begin(), host_.drives.end(),
                   [&](const NvmeDrive& one) { return one.pci_address == seen.pci_address.value; });
  const bool is_switched = drive != host_.drives.end() && drive->bridges.has_value() &&
                           is_behind_switch(*drive->bridges);
  if (!is_switched) return matched(at + ", with no switch between");
  if (knows_chassis_ports()) return matched(at + ", where no chassis is plugged in");
  return unknown(at + ", behind a switch that may be on the board or in a chassis");
}

}  // namespace falcon::plan
