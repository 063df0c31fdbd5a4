// The system file: what the detection cannot know about a machine. Which GPUs sit in a composable
// chassis and where, what its storages are, names for sets of GPUs, and what its links should
// reach. Read by spec::load_system_file; configs/systems/ has examples.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/system_chassis.h"

namespace falcon {

/// The paper's sets of GPUs.
inline constexpr const char* kLocalGpus = "localGPUs";
inline constexpr const char* kHybridGpus = "hybridGPUs";
inline constexpr const char* kFalconGpus = "falconGPUs";

struct SystemGpu {
  std::string pci_address;  // dddd:bb:dd.f in lower case once loaded
  std::string uuid;
  std::string attach = "local";
  std::string chassis;
  std::optional<std::int64_t> drawer;
  std::string host_link;  // of the drawer; filled in where the drawer has only one
  std::optional<std::int64_t> slot;
  bool emulated = false;
};
template <class V>
void visit_fields(SystemGpu& g, V& v) {
  v.field("pci_address", g.pci_address, "PCI address, domain:bus:device.function (or give uuid)");
  v.field("uuid", g.uuid, "NVML UUID, GPU-... (or give pci_address); both: a swapped GPU is found");
  v.field("attach", g.attach, "where it sits: in the host (local) or in a chassis (falcon)",
          one_of("attach"));
  v.field("chassis", g.chassis, "name of the chassis it sits in");
  v.field("drawer", g.drawer, "drawer of the chassis", between(0, 1000));
  v.field("host_link", g.host_link,
          "which host link of the drawer it is assigned to, where the drawer has several");
  v.field("slot", g.slot, "slot of the drawer or of the host", between(0, 1000));
  v.field("emulated", g.emulated,
          "it sits in the host and plays a GPU of a chassis, for emulate: of a spec");
}

struct SystemStorage {
  std::string mount;
  std::string device;
  std::string attach = "local";
  std::string chassis;
  std::optional<std::int64_t> drawer;
};
template <class V>
void visit_fields(SystemStorage& s, V& v) {
  v.field("mount", s.mount, "folder where it is mounted, absolute", Rule{.required = true});
  v.field("device", s.device, "block device that must carry the mount, e.g. /dev/nvme1n1");
  v.field("attach", s.attach, "where the device sits: local or falcon", one_of("attach"));
  v.field("chassis", s.chassis, "name of the chassis it sits in");
  v.field("drawer", s.drawer, "drawer of the chassis", between(0, 1000));
}

/// What a kind of link should reach at least, and in latency at most. GB = 1e9 bytes.
struct SystemLink {
  std::optional<double> one_way_gb_per_s;
  std::optional<double> both_ways_gb_per_s;
  std::optional<double> latency_us;
};
template <class V>
void visit_fields(SystemLink& l, V& v) {
  v.field("one_way_gb_per_s", l.one_way_gb_per_s, "expected in one direction, GB/s", above(0));
  v.field("both_ways_gb_per_s", l.both_ways_gb_per_s,
          "expected as the sum of both directions at once, GB/s", above(0));
  v.field("latency_us", l.latency_us, "expected latency of a 16 byte copy, microseconds", above(0));
}

struct SystemFile {
  std::map<std::string, SystemGpu> gpus;
  std::map<std::string, SystemChassis> chassis;
  std::map<std::string, SystemStorage> storage;
  std::map<std::string, std::vector<std::string>> topologies;
  std::map<std::string, SystemLink> links;  // by catalog::words("link_classes")
  std::string path;                         // file it was read from; empty: there is none

  /// Names of the GPUs of a topology: in the order of its entries, those of a glob by drawer, slot
  /// and name (gpu2 before gpu10), each once. Where the file has no topology of that name, the
  /// paper's names follow from attach: localGPUs and falconGPUs are the GPUs so marked; hybridGPUs
  /// is as many of one kind as of the other, taken in turn, so that the first N of them are half of
  /// each. Empty when the file has no such set.
  std::vector<std::string> members(std::string_view topology) const;
  /// Names of the sets that members() knows here.
  std::vector<std::string> sets() const;
  /// Names of GPUs in the order of a glob.
  std::vector<std::string> ordered_gpus() const;
  /// The link that a GPU is assigned to; nullptr: it is in no chassis, or its drawer names none.
  const SystemHostLink* link_of(const SystemGpu& gpu) const;
  /// The drawer of a GPU; nullptr: not described.
  const SystemDrawer* drawer_of(const SystemGpu& gpu) const;
};
template <class V>
void visit_fields(SystemFile& s, V& v) {
  v.field("gpus", s.gpus, "GPUs by a name of your choice");
  v.field("chassis", s.chassis, "composable chassis by a name of your choice");
  v.field("storage", s.storage, "storages by a name of your choice");
  v.field("topologies", s.topologies,
          "sets of GPUs: name -> list of GPU names, with * ? and [...] as in a shell; without them "
          "localGPUs, falconGPUs and hybridGPUs follow from attach");
  v.field("links", s.links,
          "what links should reach, by class: L-L, F-L, F-F same drawer, F-F other half, F-F cross "
          "drawer (pairs of GPUs), host-L, host-F (host and one GPU), uplink (a host link of a "
          "drawer, all of its GPUs at once)");
}

}  // namespace falcon
