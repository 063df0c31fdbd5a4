// Devices on PCI as one source shows them, and how far apart two of them are.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "falconbench/measured.h"

namespace falcon::platform {

/// Where a PCI tree can come from, in the order in which they are believed.
enum class TreeSource { kSysfs, kLspci, kHwloc, kNccl };
const char* source_name(TreeSource source);

enum class DeviceKind {
  kOther,
  kBridge,
  kGpu,          // of NVIDIA
  kNvSwitch,     // of NVIDIA, not a GPU
  kDisplay,      // a VGA controller of somebody else
  kAccelerator,  // of somebody else
  kNvme,
  kRaid,
  kNic,
};

/// Unknown is absent or empty, never 0.
struct PciDevice {
  std::string address;  // normal form, dddd:bb:dd.f
  std::string root;     // its root complex as the source names it; empty: the source does not tell
  std::vector<std::string> bridges;  // addresses of those above it, from the root complex down
  DeviceKind kind = DeviceKind::kOther;
  int class_code = -1;  // 24 bits
  int vendor = -1;
  int device = -1;
  std::string name;
  std::optional<int> numa_node;  // -1: the source says that it does not know
  std::vector<int> numa_nodes;   // where a source names a set of them
  std::string cpus;              // list of the near ones: "0-19,40-59"
  std::string speed, max_speed;  // as printed: "8.0 GT/s PCIe", "16GT/s"
  std::optional<int> width, max_width;
  std::optional<double> link_gb_per_s;  // raw rate of the link in GB/s, where only that is told
  std::vector<std::string> os_devices;  // nvml0, nvme0n1, mlx5_0
};

/// A link of NVLink from a GPU, as a tree's source tells it.
struct NvlinkTarget {
  std::string gpu;     // address of the GPU it leaves
  std::string target;  // address of the partner, as printed
  int links = 0;
  bool is_switch = false;
};

struct PciTree {
  TreeSource source = TreeSource::kSysfs;
  std::string file;
  std::vector<PciDevice> devices;    // in the order of the source
  bool lists_all_kinds = false;      // a listing of lspci: surely of the whole machine
  bool tells_kinds = true;           // false: of some devices it is not told what they are
  bool shows_bridge_ports = true;    // false: one entry for a switch, and no root complexes (NCCL)
  std::vector<int> numa_nodes;       // of the machine, where the source lists them
  std::vector<NvlinkTarget> nvlink;  // with tells_nvlink only
  bool tells_nvlink = false;
  std::vector<int> nccl_devices;  // NCCL's number of a GPU, beside `devices`; -1: none
  std::string architecture;       // "x86_64", "ppc64le"

  const PciDevice* find(std::string_view address) const;
  std::vector<const PciDevice*> of_kind(DeviceKind kind) const;
};

/// Kind by numbers: class (24 bits) and vendor.
DeviceKind kind_of(int class_code, int vendor);

/// Whether they surely have no switch in common, also where their class is not known.
bool are_apart(const PciTree& tree, const PciDevice& a, const PciDevice& b);

/// PIX, PXB, PHB, NODE or SYS between two devices of one tree, as nvidia-smi has it, or PHB* (NCCL:
/// same NUMA node, the host bridge is unknown). From the path below the root complex: different
/// root complexes are SYS if their NUMA nodes differ, else NODE; the same one and nothing else in
/// common is PHB; otherwise PIX if at most one bridge lies between each device and the last common
/// bridge, else PXB.
Measured<std::string> pair_class(const PciTree& tree, const PciDevice& a, const PciDevice& b);

/// "8 GT/s", "16GT/s", "32.0 GT/s PCIe" -> 3, 4, 5. Missing for unknown and empty text.
Measured<int> pcie_generation(std::string_view speed);

}  // namespace falcon::platform
