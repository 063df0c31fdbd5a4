// Where the devices of a run sit: what the system file declares against what the host shows.
// Decided in the plan (plan::make_places), repeated in the report's topology.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/measured.h"

namespace falcon {

/// Verdicts on what was declared. Unknown is not matched.
inline constexpr const char* kMatched = "matched";
inline constexpr const char* kMismatched = "mismatched";
inline constexpr const char* kUnknown = "unknown";

struct GpuPlace {
  std::string name, host;
  std::string uuid, pci_address;
  Measured<std::string> attach;  // declared, else seen
  Measured<std::string> chassis;
  Measured<std::int64_t> drawer;
  Measured<std::string> host_link;
  Measured<std::int64_t> slot;
  bool emulated = false;
  std::string verdict = kUnknown;
  std::string evidence;
  Measured<std::string> root_port, upstream;
  Measured<int> link_generation, link_generation_max, link_width, link_width_max;  // while idle
};
template <class V>
void visit_fields(GpuPlace& g, V& v) {
  v.field("name", g.name, "as the topology calls it");
  v.field("host", g.host, "host it is on");
  v.field("uuid", g.uuid, "GPU UUID");
  v.field("pci_address", g.pci_address, "GPU PCI address");
  v.field("attach", g.attach, "local or falcon: as the system file says, else as seen on PCIe");
  v.field("chassis", g.chassis, "chassis it sits in");
  v.field("drawer", g.drawer, "drawer of the chassis");
  v.field("host_link", g.host_link, "link of the drawer that leads to it");
  v.field("slot", g.slot, "slot of the drawer or of the host");
  v.field("emulated", g.emulated, "it sits in the host and plays a GPU of a chassis");
  v.field("verdict", g.verdict, "what is declared of its place: matched, mismatched or unknown");
  v.field("evidence", g.evidence, "what the verdict rests on");
  v.field("root_port", g.root_port, "PCI address of the host's port above it");
  v.field("upstream", g.upstream, "PCI address of the port of the first switch above it");
  v.field("link_generation", g.link_generation, "its PCIe link before the run");
  v.field("link_generation_max", g.link_generation_max, "largest of GPU and slot");
  v.field("link_width", g.link_width, "lanes of its PCIe link before the run");
  v.field("link_width_max", g.link_width_max, "largest of GPU and slot");
}

/// Two GPUs of a run, by their places in the list of GPUs.
struct PairPlace {
  int a = 0, b = 0;
  Measured<std::string> pair_class;  // a word of catalog::pair_classes()
  Measured<std::string> path;        // as nvidia-smi topo -m
};
template <class V>
void visit_fields(PairPlace& p, V& v) {
  v.field("a", p.a, "place of the one in the list of GPUs");
  v.field("b", p.b, "place of the other");
  v.field("pair_class", p.pair_class,
          "L-L, F-L, F-F same drawer, F-F other half, F-F cross drawer");
  v.field("path", p.path, "as nvidia-smi topo -m: NV2, PIX, SYS, ...");
}

/// A link between the host and a switch that several devices of a run have in common.
struct SharedUplink {
  std::string name, host;
  std::string root_port, upstream;
  std::vector<std::string> devices;  // GPUs, and the storage
  Measured<int> generation, generation_max, width, width_max;
  Measured<double> raw_gb_per_s;
};
template <class V>
void visit_fields(SharedUplink& u, V& v) {
  v.field("name", u.name, "drawer and link of the system file, else the switch");
  v.field("host", u.host, "host that it leads to");
  v.field("root_port", u.root_port, "PCI address of the host's port");
  v.field("upstream", u.upstream, "PCI address of the switch's port");
  v.field("devices", u.devices, "GPUs and storage of the run behind it");
  v.field("generation", u.generation, "generation of the link");
  v.field("generation_max", u.generation_max, "largest generation of both ends");
  v.field("width", u.width, "lanes of the link");
  v.field("width_max", u.width_max, "largest number of lanes of both ends");
  v.field("raw_gb_per_s", u.raw_gb_per_s, "one way after line coding, GB/s: all share it");
}

struct StoragePlace {
  std::string name, host, mount;
  std::string device, attach;  // declared
  Measured<std::vector<std::string>> disks;
  Measured<std::string> pci_address, root_port;
  std::string verdict = kUnknown;
  std::string evidence;
};
template <class V>
void visit_fields(StoragePlace& s, V& v) {
  v.field("name", s.name, "name in the system file");
  v.field("host", s.host, "host that reads from it");
  v.field("mount", s.mount, "folder where it is mounted");
  v.field("device", s.device, "declared block device, may be empty");
  v.field("attach", s.attach, "declared: local or falcon");
  v.field("disks", s.disks, "disks that carry the folder");
  v.field("pci_address", s.pci_address, "PCI address of the drive");
  v.field("root_port", s.root_port, "PCI address of the host's port above it");
  v.field("verdict", s.verdict, "matched, mismatched or unknown");
  v.field("evidence", s.evidence, "what the verdict rests on");
}

struct Places {
  std::vector<GpuPlace> gpus;  // in rank order; none on the CPU
  std::vector<PairPlace> pairs;
  std::vector<SharedUplink> uplinks;
  Measured<StoragePlace> storage;
  std::vector<StoragePlace> other_storages;
  std::string order;
};
template <class V>
void visit_fields(Places& p, V& v) {
  v.field("gpus", p.gpus, "each GPU, in rank order");
  v.field("pairs", p.pairs, "every two of them on one host");
  v.field("uplinks", p.uplinks, "links to the host that several of them share");
  v.field("storage", p.storage, "the named storage");
  v.field("other_storages", p.other_storages, "the same of the other hosts of a run on several");
  v.field("order", p.order, "the ring of ranks, with the steps between places");
}

}  // namespace falcon
