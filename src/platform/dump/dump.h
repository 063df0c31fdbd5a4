// Everything that files about one machine say, as each kind of file says it: nothing is joined yet.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "falconbench/host.h"
#include "platform/dump/read_gpu_csv.h"
#include "platform/dump/read_host_texts.h"
#include "platform/dump/read_hwloc.h"
#include "platform/dump/read_lspci.h"
#include "platform/dump/read_nvlink.h"
#include "platform/dump/read_nvml_probe.h"
#include "platform/dump/read_smi_query.h"
#include "platform/dump/read_sysfs.h"
#include "platform/dump/read_topo_matrix.h"
#include "platform/machine/pci_tree.h"
#include "platform/nvml.h"
#include "platform/root.h"

namespace falcon::platform {

/// What was read from a file, with its name (without its folder).
template <class T>
struct FromFile {
  std::string file;
  T content;
};

struct SysfsFacts {
  std::vector<NumaNode> nodes;
  std::vector<DriveMounts> drives;
  Measured<std::vector<HostMount>> mounts;
  std::vector<std::string> unknown_mounts;  // mounts_without_device()
  Measured<std::string> hypervisor;
  Measured<std::string> container;
};

struct Dump {
  std::vector<std::pair<std::string, std::string>> files;     // name, what it is
  std::vector<std::pair<std::string, std::string>> left_out;  // name, why

  std::vector<PciTree> trees;  // sorted by source; a listing of lspci is joined into its tree
  std::optional<FromFile<PciTree>> lspci_listing;
  std::optional<FromFile<SysfsFacts>> sysfs;
  std::optional<FromFile<std::vector<HwlocNode>>> hwloc_nodes;
  std::optional<std::string>
      hwloc_hypervisor;  // of the host that hwloc saw; "" where it has no name
  std::optional<FromFile<TopoMatrix>> topo, topo_pcie;  // -m and -mp
  std::vector<FromFile<TopoMatrix>> peer_status;
  std::vector<FromFile<SmiReport>> reports;  // nvidia-smi -q, text and XML
  std::optional<FromFile<SmiReport>> table;
  std::vector<FromFile<std::vector<CsvGpu>>> csv;
  std::optional<FromFile<std::vector<NvlinkGpu>>> nvlink_states, nvlink_remotes, gpu_names;
  std::optional<FromFile<NvmlProbe>> probe;
  std::optional<FromFile<PeerTest>> peer_test;
  std::optional<FromFile<AccessControl>> access_control;
  std::optional<FromFile<std::vector<NumactlNode>>> numactl;
  std::optional<FromFile<CpuListing>> cpu_listing;
  std::optional<FromFile<DriverFiles>> driver_files;
  std::optional<FromFile<std::vector<int>>> monitor;  // nvidia-smi dmon
  std::optional<Host> host;                           // of this machine, through NVML
};

/// Outputs of nvidia-smi -q; without any, the table of nvidia-smi, which says less.
std::span<const FromFile<SmiReport>> reports_or_table(const Dump& dump);

/// The kinds of files that read_dump takes, in words.
std::string accepted_files();

/// A file, a folder of files (whatever their names), or a folder that holds a sysfs tree. What is
/// not known or not whole stands in left_out. Throws Error(kUsage) naming path and what is accepted
/// when nothing can be read.
Dump read_dump(const std::string& path);

/// This machine: sysfs and procfs below a root, what detect() found there, and NVML's links (none
/// without nvml). Never throws for what it lacks.
Dump read_this_host(const Root& root, Host host, const Nvml* nvml);

}  // namespace falcon::platform
