// Parts of a host (falconbench/host.h): who uses its GPUs, its libraries, where devices sit on PCI,
// what carries its mounts.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/measured.h"

namespace falcon {

struct GpuProcess {
  std::int64_t pid = 0;
  std::string name;  // empty when not readable
  Measured<std::int64_t> memory_bytes;
};
template <class V>
void visit_fields(GpuProcess& p, V& v) {
  v.field("pid", p.pid, "process id as the driver gives it");
  v.field("name", p.name, "command, where readable");
  v.field("memory_bytes", p.memory_bytes, "GPU memory it holds");
}

/// A library the engine was built for and the one that was loaded, from the probe.
struct LibraryVersion {
  std::string built;
  Measured<std::string> loaded;
  std::string path;  // of the loaded file
};
template <class V>
void visit_fields(LibraryVersion& l, V& v) {
  v.field("built", l.built, "version built for");
  v.field("loaded", l.loaded, "version loaded");
  v.field("path", l.path, "file loaded");
}

/// A PCIe switch next to a root port of the host, on the board or in a chassis.
struct PcieSwitch {
  std::string root_port;  // PCI address of the port of the host
  std::string upstream;   // of the switch's port towards it
  std::string model;      // vendor:device in hexadecimal; empty: unknown
  Measured<int> generation, generation_max, width, width_max;  // of the link between the two
  Measured<int> numa_node;
};
template <class V>
void visit_fields(PcieSwitch& s, V& v) {
  v.field("root_port", s.root_port, "PCI address of the host's port");
  v.field("upstream", s.upstream, "PCI address of the switch's port towards the host");
  v.field("model", s.model, "vendor:device");
  v.field("generation", s.generation, "generation of the link to the host");
  v.field("generation_max", s.generation_max, "largest generation of both ends");
  v.field("width", s.width, "lanes of the link to the host");
  v.field("width_max", s.width_max, "largest number of lanes of both ends");
  v.field("numa_node", s.numa_node, "NUMA node of the link");
}

struct NvmeDrive {
  std::string name;         // of the controller: nvme0
  std::string pci_address;  // empty: not told
  Measured<std::vector<std::string>> bridges;
  std::vector<std::string> disks;  // nvme0n1
};
template <class V>
void visit_fields(NvmeDrive& d, V& v) {
  v.field("name", d.name, "name of the controller");
  v.field("pci_address", d.pci_address, "domain:bus:device.function");
  v.field("bridges", d.bridges, "PCI addresses above it, from the root port down");
  v.field("disks", d.disks, "its block devices");
}

/// A folder where a file system with a block device is mounted.
struct HostMount {
  std::string folder;
  std::string source;              // as the kernel names it: /dev/mapper/data
  std::vector<std::string> disks;  // whole disks below it, through partitions, LVM and md
};
template <class V>
void visit_fields(HostMount& m, V& v) {
  v.field("folder", m.folder, "mount point");
  v.field("source", m.source, "block device, as the kernel names it");
  v.field("disks", m.disks, "whole disks below it, through partitions, LVM and md");
}

}  // namespace falcon
