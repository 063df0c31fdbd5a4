// What this machine is. Made by platform::detect(root) from procfs, sysfs and NVML (root is "/" or
// a folder that stands in for it), completed by the probe (a child with the engine loaded). Unknown
// is Measured::missing, never 0.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/host_parts.h"
#include "falconbench/measured.h"

namespace falcon {

struct Gpu {
  std::string uuid;
  std::string pci_address;  // dddd:bb:dd.f, lower case, 4-digit domain
  std::string name;
  Measured<std::int64_t> memory_bytes;
  Measured<int> numa_node;
  Measured<std::string> iommu;               // type of its group
  Measured<std::string> compute_capability;  // "9.0"
  Measured<int> pcie_generation, pcie_generation_max, pcie_width,
      pcie_width_max;  // as read while idle
  Measured<double> power_limit_w;
  std::vector<GpuProcess> processes;         // of others, at detection
  Measured<std::vector<std::string>> peers;  // from the probe
  Measured<int> cuda_ordinal;                // from the probe, joined by UUID or PCI address
  Measured<std::int64_t> memory_used_bytes;  // at detection, by whomever: containers hide processes
  Measured<std::vector<std::string>> bridges;  // PCI addresses above it, from the root port down
  Measured<int> nvlinks;                       // active, to GPUs and switches
};
template <class V>
void visit_fields(Gpu& g, V& v) {
  v.field("uuid", g.uuid, "NVML UUID");
  v.field("pci_address", g.pci_address, "domain:bus:device.function");
  v.field("name", g.name, "product name");
  v.field("memory_bytes", g.memory_bytes, "memory of the board");
  v.field("numa_node", g.numa_node, "NUMA node of its PCIe slot");
  v.field("iommu", g.iommu,
          "type of its IOMMU group: DMA or DMA-FQ (addresses are translated), identity (they are "
          "not), or none");
  v.field("compute_capability", g.compute_capability, "major.minor");
  v.field("pcie_generation", g.pcie_generation, "link generation, idle");
  v.field("pcie_generation_max", g.pcie_generation_max, "largest generation of GPU and slot");
  v.field("pcie_width", g.pcie_width, "link width, lanes");
  v.field("pcie_width_max", g.pcie_width_max, "largest width of GPU and slot");
  v.field("power_limit_w", g.power_limit_w, "enforced power limit");
  v.field("processes", g.processes, "processes that held the GPU before the run");
  v.field("peers", g.peers, "PCI addresses of the GPUs whose memory CUDA lets it reach directly");
  v.field("cuda_ordinal", g.cuda_ordinal, "CUDA's index in the environment of the probe");
  v.field("memory_used_bytes", g.memory_used_bytes, "memory in use before the run");
  v.field("bridges", g.bridges, "PCI addresses above it, from the root port down");
  v.field("nvlinks", g.nvlinks, "active links of NVLink, to GPUs and switches");
}

struct NumaNode {
  int id = 0;
  std::vector<int> cpus;
  Measured<std::int64_t> memory_bytes;
};
template <class V>
void visit_fields(NumaNode& n, V& v) {
  v.field("id", n.id, "node number");
  v.field("cpus", n.cpus, "logical CPUs");
  v.field("memory_bytes", n.memory_bytes, "memory of the node");
}

struct Cpu {
  Measured<std::string> model;
  int logical = 0;               // online logical CPUs
  Measured<int> sockets, cores;  // physical
  std::vector<int> allowed;      // affinity of this process
  Measured<double>
      quota_cpus;  // container quota in CPUs; missing with reason "no quota" when unlimited
  int usable = 1;  // min(allowed, quota rounded down), at least 1
};
template <class V>
void visit_fields(Cpu& c, V& v) {
  v.field("model", c.model, "model name");
  v.field("logical", c.logical, "online logical CPUs");
  v.field("sockets", c.sockets, "physical packages");
  v.field("cores", c.cores, "physical cores");
  v.field("allowed", c.allowed, "CPUs in this process's affinity mask");
  v.field("quota_cpus", c.quota_cpus, "container quota, CPUs");
  v.field("usable", c.usable, "CPUs to plan with: the smaller of mask and quota, rounded down");
}

struct Host {
  std::string hostname;
  Measured<std::string> os;
  Measured<std::string> kernel;
  Measured<std::string> container;  // what kind, where it can be told
  Cpu cpu;
  Measured<std::int64_t> memory_bytes;
  Measured<std::int64_t> memory_limit_bytes;   // container limit; missing with reason "no limit"
  Measured<std::int64_t> shared_memory_bytes;  // free in /dev/shm
  std::vector<NumaNode> numa_nodes;
  std::vector<Gpu> gpus;                                      // in PCI address order
  Measured<std::vector<std::vector<std::string>>> gpu_paths;  // as nvidia-smi topo -m: NV2, PIX
  std::vector<PcieSwitch> switches;  // those above GPUs and drives, by root port
  std::vector<NvmeDrive> drives;
  Measured<std::vector<HostMount>> mounts;
  Measured<std::string> virtual_machine;  // kind, "" where it is not told; missing: no sign of one
  Measured<std::string> driver;           // missing: why there is no GPU driver
  Measured<std::string> driver_cuda;      // newest CUDA that the driver supports
  std::map<std::string, LibraryVersion>
      libraries;  // LibTorch, CUDA, cuDNN, NCCL; empty before the probe
  std::map<std::string, std::string> environment;  // allow-listed variables that are set
  std::vector<std::string> notes;  // GPUs left out, and what could not be told, in words
};
template <class V>
void visit_fields(Host& h, V& v) {
  v.field("hostname", h.hostname, "name of this host");
  v.field("os", h.os, "distribution");
  v.field("kernel", h.kernel, "kernel release");
  v.field("container", h.container, "container kind");
  v.field("cpu", h.cpu, "processors");
  v.field("memory_bytes", h.memory_bytes, "host memory");
  v.field("memory_limit_bytes", h.memory_limit_bytes, "container memory limit");
  v.field("shared_memory_bytes", h.shared_memory_bytes, "free bytes in /dev/shm");
  v.field("numa_nodes", h.numa_nodes, "NUMA nodes");
  v.field("gpus", h.gpus, "GPUs in PCI address order");
  v.field("gpu_paths", h.gpu_paths, "between every two GPUs, as nvidia-smi topo -m");
  v.field("switches", h.switches, "PCIe switches above GPUs and drives, by root port");
  v.field("drives", h.drives, "NVMe drives");
  v.field("mounts", h.mounts, "mounts that lie on block devices");
  v.field("virtual_machine", h.virtual_machine, "kind of hypervisor, empty where it is not told");
  v.field("driver", h.driver, "GPU driver version");
  v.field("driver_cuda", h.driver_cuda, "newest CUDA that the driver supports");
  v.field("libraries", h.libraries, "versions built for and loaded");
  v.field("environment", h.environment, "allow-listed environment variables");
  v.field("notes", h.notes, "what was left out or could not be told");
}

}  // namespace falcon
