// PCI devices, NVMe drives and what lies on them, from sysfs and procfs below a root.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "falconbench/host_parts.h"
#include "platform/machine/pci_tree.h"
#include "platform/root.h"

namespace falcon::platform {

/// Empty without /sys/bus/pci/devices.
PciTree read_sysfs_tree(const Root& root);

/// What lies on a drive.
struct DriveMounts {
  std::string controller;                     // "nvme0"
  std::string address;                        // on PCI
  std::vector<std::string> disks;             // "nvme0n1"
  Measured<std::vector<std::string>> mounts;  // folders, also through partitions, LVM and md
};

/// NVMe controllers that the kernel drives, by name.
std::vector<DriveMounts> read_nvme_drives(const Root& root);

/// Mounts that lie on whole disks, in the order of the mount table.
Measured<std::vector<HostMount>> read_block_mounts(const Root& root);

/// Folders that lie on a file system whose place below them cannot be told: overlay and the like.
std::vector<std::string> mounts_without_device(const Root& root);

/// The hypervisor that names of a system's vendor and product give away; nothing: they name none.
std::optional<std::string> hypervisor_of(const std::string& vendor, const std::string& product);

/// Signs of a virtual machine, apart from its devices: "KVM", "VMware", ..., or "" when its kind is
/// not told; missing: no sign was found, which is no proof.
Measured<std::string> read_hypervisor(const Root& root);

}  // namespace falcon::platform
