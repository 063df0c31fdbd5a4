#include "platform/dump/read_sysfs.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "platform/cpus.h"
#include "platform/dump/lines.h"
#include "platform/pci_address.h"

namespace falcon::platform {
namespace {

constexpr const char* kDevices = "sys/bus/pci/devices";

// "0x0604..." -> number; -1 when it is none.
int hexadecimal(const Measured<std::string>& text) {
  if (!text.has_value() || !text.value->starts_with("0x")) return -1;
  char* end = nullptr;
  const long number = std::strtol(text.value->c_str(), &end, 16);
  return *end == '\0' ? static_cast<int>(number) : -1;
}

std::optional<int> lanes(const Root& root, const std::string& path) {
  const auto width = root.integer(path);
  // 255 is what the kernel reads from a device that does not answer.
  if (!width.has_value() || *width < 0 || *width > 32) return {};
  return static_cast<int>(*width);
}

std::string speed(const Root& root, const std::string& path) {
  std::string text = root.text(path).value.value_or("");
  return pcie_generation(text).has_value() ? text : "";
}

// sys/devices/pci0000:17/0000:17:00.0/0000:1a:00.0: the root complex, then bridges, then the
// device. On some machines other folders stand before the root complex (a controller of a system on
// chip).
void take_path(const std::string& folder, PciDevice& device) {
  for (const std::string& part : base::split(folder, '/')) {
    if (part.starts_with("pci") && part.find(':') != std::string::npos) {
      device.root = part;
    } else if (!device.root.empty() && normal_pci_address(part) == part) {
      device.bridges.push_back(part);
    }
  }
  if (!device.bridges.empty()) device.bridges.pop_back();  // itself
}

PciDevice read_device(const Root& root, const std::string& name) {
  const std::string folder = root.resolved(std::string(kDevices) + "/" + name);
  PciDevice device;
  device.address = normal_pci_address(name);
  take_path(folder, device);
  device.class_code = hexadecimal(root.text(folder + "/class"));
  device.vendor = hexadecimal(root.text(folder + "/vendor"));
  device.device = hexadecimal(root.text(folder + "/device"));
  device.kind = kind_of(device.class_code, device.vendor);
  if (const auto node = root.integer(folder + "/numa_node"); node.has_value()) {
    device.numa_node = static_cast<int>(*node);
  }
  device.cpus = root.text(folder + "/local_cpulist").value.value_or("");
  device.speed = speed(root, folder + "/current_link_speed");
  device.max_speed = speed(root, folder + "/max_link_speed");
  device.width = lanes(root, folder + "/current_link_width");
  device.max_width = lanes(root, folder + "/max_link_width");
  for (const char* kind : {"infiniband", "net", "nvme"}) {
    for (std::string& found : root.names(folder + "/" + kind)) {
      device.os_devices.push_back(std::move(found));
    }
  }
  return device;
}

struct Mount {
  std::string device_number, folder, type, source;
};

std::vector<Mount> read_mounts(const Root& root) {
  std::vector<Mount> mounts;
  const std::string table = root.read("proc/self/mountinfo").value.value_or("");
  for (const std::string& line : clean_lines(table)) {
    const std::vector<std::string> words = words_of(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 5 || dash == words.end() || dash + 1 == words.end()) continue;
    mounts.push_back({words[2], words[4], *(dash + 1), dash + 2 < words.end() ? *(dash + 2) : ""});
  }
  return mounts;
}

// Whole disks below a block device: through its partitions, and through what LVM and md are made
// of.
void add_disks(const Root& root, const std::string& folder, int depth,
               std::set<std::string>& disks) {
  constexpr int kDeepest = 8;
  if (depth > kDeepest || folder.empty()) return;
  const std::string below = folder + "/slaves/";
  const std::vector<std::string> slaves = root.names(below);
  for (const std::string& slave : slaves) {
    add_disks(root, root.resolved(std::string(below).append(slave)), depth + 1, disks);
  }
  if (!slaves.empty()) return;
  const std::size_t slash = folder.rfind('/');
  if (slash == std::string::npos) return;
  if (root.exists(folder + "/partition")) {
    add_disks(root, folder.substr(0, slash), depth + 1, disks);
  } else {
    disks.insert(folder.substr(slash + 1));
  }
}

Measured<std::vector<std::string>> mounts_on(const Root& root, const std::vector<Mount>& mounts,
                                             const std::vector<std::string>& disks) {
  using Folders = Measured<std::vector<std::string>>;
  if (mounts.empty()) return Folders::missing("/proc/self/mountinfo is not there");
  if (!root.exists("sys/dev/block")) return Folders::missing("there is no /sys/dev/block");
  std::vector<std::string> folders;
  for (const Mount& mount : mounts) {
    std::set<std::string> below;
    add_disks(root, root.resolved("sys/dev/block/" + mount.device_number), 0, below);
    const bool is_on = std::any_of(disks.begin(), disks.end(),
                                   [&](const std::string& disk) { return below.contains(disk); });
    if (is_on) folders.push_back(mount.folder);
  }
  return folders;
}

}  // namespace

PciTree read_sysfs_tree(const Root& root) {
  PciTree tree;
  tree.source = TreeSource::kSysfs;
  for (const std::string& name : root.names(kDevices)) {
    if (normal_pci_address(name).empty()) continue;
    tree.devices.push_back(read_device(root, name));
  }
  std::stable_sort(tree.devices.begin(), tree.devices.end(),
                   [](const PciDevice& a, const PciDevice& b) {
                     return is_before_on_pci(a.address, b.address);
                   });
  for (const NumaNode& node : read_numa_nodes(root)) {
    if (!node.cpus.empty()) tree.numa_nodes.push_back(node.id);
  }
  return tree;
}

std::vector<DriveMounts> read_nvme_drives(const Root& root) {
  const std::vector<Mount> mounts = read_mounts(root);
  std::vector<DriveMounts> drives;
  for (const std::string& name : root.names("sys/class/nvme")) {
    DriveMounts drive;
    drive.controller = name;
    for (const std::string& part : base::split(root.resolved("sys/class/nvme/" + name), '/')) {
      if (const std::string address = normal_pci_address(part); !address.empty()) {
        drive.address = address;
      }
    }
    for (const std::string& disk : root.names("sys/block")) {
      if (root.resolved("sys/block/" + disk).find("/" + name + "/") != std::string::npos) {
        drive.disks.push_back(disk);
      }
    }
    drive.mounts = mounts_on(root, mounts, drive.disks);
    drives.push_back(std::move(drive));
  }
  return drives;
}

Measured<std::vector<HostMount>> read_block_mounts(const Root& root) {
  using Mounts = Measured<std::vector<HostMount>>;
  const std::vector<Mount> mounts = read_mounts(root);
  if (mounts.empty()) return Mounts::missing("/proc/self/mountinfo is not there");
  if (!root.exists("sys/dev/block")) return Mounts::missing("there is no /sys/dev/block");
  std::vector<HostMount> found;
  for (const Mount& mount : mounts) {
    std::set<std::string> disks;
    add_disks(root, root.resolved("sys/dev/block/" + mount.device_number), 0, disks);
    if (disks.empty()) continue;
    found.push_back({base::octal_unescaped(mount.folder),
                     base::octal_unescaped(mount.source),
                     {disks.begin(), disks.end()}});
  }
  return found;
}

std::vector<std::string> mounts_without_device(const Root& root) {
  static constexpr std::array<std::string_view, 5> kTypes = {"overlay", "aufs", "btrfs", "zfs",
                                                             "fuse.mergerfs"};
  std::vector<std::string> folders;
  for (const Mount& mount : read_mounts(root)) {
    if (std::find(kTypes.begin(), kTypes.end(), mount.type) != kTypes.end()) {
      folders.push_back(mount.folder + " (" + mount.type + ")");
    }
  }
  return folders;
}

std::optional<std::string> hypervisor_of(const std::string& vendor, const std::string& product) {
  static constexpr std::array<std::pair<std::string_view, const char*>, 7> kVendors = {
      {{"QEMU", "KVM"},
       {"Amazon EC2", "KVM"},
       {"Google", "KVM"},
       {"VMware", "VMware"},
       {"Xen", "Xen"},
       {"innotek", "VirtualBox"},
       {"OpenStack", "KVM"}}};
  const bool is_metal = product.find(".metal") != std::string::npos;
  for (const auto& [word, kind] : kVendors) {
    if (!is_metal && vendor.starts_with(word)) return kind;
  }
  if (vendor.starts_with("Microsoft") && product == "Virtual Machine") return "Hyper-V";
  return {};
}

Measured<std::string> read_hypervisor(const Root& root) {
  using Text = Measured<std::string>;
  if (const Text type = root.text("sys/hypervisor/type"); type.has_value()) return *type;
  const auto board = hypervisor_of(root.text("sys/class/dmi/id/sys_vendor").value.value_or(""),
                                   root.text("sys/class/dmi/id/product_name").value.value_or(""));
  if (board) return *board;
  const std::string info = root.read("proc/cpuinfo").value.value_or("");
  for (const std::string& line : clean_lines(info)) {
    if (!line.starts_with("flags")) continue;
    const std::vector<std::string> flags = words_of(line);
    if (std::find(flags.begin(), flags.end(), "hypervisor") != flags.end()) {
      return std::string();
    }
    break;
  }
  return Text::missing("no sign of a virtual machine");
}

}  // namespace falcon::platform
