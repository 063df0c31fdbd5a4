// The system file: what the detection cannot know about a machine. Which GPUs sit in a composable
// chassis and where, what its storages are, and names for sets of GPUs. Read by
// spec::load_system_file; configs/systems/example.yaml shows one.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "falconbench/fields.h"

namespace falcon {

struct SystemGpu {
  std::string pci_address;  // dddd:bb:dd.f in lower case once loaded
  std::string uuid;
  std::string attach = "local";
  std::string chassis;
  std::optional<std::int64_t> drawer;
  std::optional<std::int64_t> slot;
};
template <class V>
void visit_fields(SystemGpu& g, V& v) {
  v.field("pci_address", g.pci_address, "PCI address, domain:bus:device.function (or give uuid)");
  v.field("uuid", g.uuid, "NVML UUID, GPU-... (or give pci_address)");
  v.field("attach", g.attach, "where it sits: in the host (local) or in a chassis (falcon)",
          one_of("attach"));
  v.field("chassis", g.chassis, "name of the chassis it sits in");
  v.field("drawer", g.drawer, "drawer of the chassis", between(0, 1000));
  v.field("slot", g.slot, "slot of the drawer or of the host", between(0, 1000));
}

struct SystemStorage {
  std::string mount;
  std::string device;
  std::string attach = "local";
};
template <class V>
void visit_fields(SystemStorage& s, V& v) {
  v.field("mount", s.mount, "folder where it is mounted, absolute", Rule{.required = true});
  v.field("device", s.device, "block device, e.g. /dev/nvme1n1");
  v.field("attach", s.attach, "where the device sits: local or falcon", one_of("attach"));
}

struct SystemFile {
  std::map<std::string, SystemGpu> gpus;
  std::map<std::string, SystemStorage> storage;
  std::map<std::string, std::vector<std::string>> topologies;
  std::string path;  // file it was read from; empty: there is none

  /// Names of the GPUs of a topology: in the order of its entries, those of a glob in alphabetical
  /// order, each once. Empty when there is no topology of that name.
  std::vector<std::string> members(std::string_view topology) const;
};
template <class V>
void visit_fields(SystemFile& s, V& v) {
  v.field("gpus", s.gpus, "GPUs by a name of your choice");
  v.field("storage", s.storage, "storages by a name of your choice");
  v.field("topologies", s.topologies,
          "sets of GPUs: name -> list of GPU names, with * ? and [...] as in a shell");
}

}  // namespace falcon
