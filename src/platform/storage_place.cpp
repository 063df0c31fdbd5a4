#include "platform/storage_place.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
#include "platform/block_device.h"
#include "platform/dump/read_sysfs.h"
#include "platform/machine/pci_tree.h"
#include "platform/pci_address.h"

namespace falcon::platform {
namespace {

using Text = Measured<std::string>;
using Names = Measured<std::vector<std::string>>;

constexpr int kDeepest = 8;  // block devices on top of each other

bool holds(const std::string& mount, const std::string& folder) {
  if (mount == "/") return true;
  return folder.starts_with(mount) &&
         (folder.size() == mount.size() || folder[mount.size()] == '/');
}

struct Mount {
  std::string point, device_number, type, source;
};

std::optional<Mount> mount_of(const std::string& table, const std::string& folder) {
  std::optional<Mount> best;
  for (const std::string& line : base::split(table, '\n')) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const std::vector<std::string> front = base::split(line.substr(0, dash), ' ');
    const std::vector<std::string> back = base::split(line.substr(dash + 3), ' ');
    if (front.size() < 6 || back.size() < 2) continue;
    Mount mount{base::octal_unescaped(front[4]), front[2], back[0], base::octal_unescaped(back[1])};
    if (!holds(mount.point, folder) || (best && mount.point.size() < best->point.size())) continue;
    best = std::move(mount);
  }
  return best;
}

void add_once(std::vector<std::string>& list, const std::string& one) {
  if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
}

/// From a block device down: its layers in words, and the disks at the bottom.
class Descent {
 public:
  explicit Descent(const Root& root) : root_(root) {}

  /// folder: of the device in sysfs.
  void take(const std::string& folder, int depth) {
    if (folder.empty()) return give_up("a block device is not in sysfs");
    if (depth > kDeepest) return give_up("more than 8 block devices on top of each other");
    const std::filesystem::path path = folder;
    const std::string name = path.filename().string();
    add_once(layers_, name + kind_of(folder));
    const std::vector<std::string> below = root_.names(folder + "/slaves");
    for (const std::string& one : below) {
      take(root_.resolved(std::string(folder).append("/slaves/").append(one)), depth + 1);
    }
    if (!below.empty()) return;
    if (root_.exists(folder + "/partition")) return take(path.parent_path().string(), depth + 1);
    if (const Text file = root_.text(folder + "/loop/backing_file"); file.has_value()) {
      return take_file(*file, depth);
    }
    if (name.starts_with("loop") || name.starts_with("dm-") || name.starts_with("md")) {
      return give_up("what " + name + " is made of is not shown");
    }
    add_once(disks_, name);
  }
  /// A device by its name.
  void take_named(const std::string& name) { take(root_.resolved("sys/class/block/" + name), 0); }

  Names layers() const { return layers_.empty() ? Names::missing(problem_) : Names(layers_); }
  Names disks() const { return problem_.empty() ? Names(disks_) : Names::missing(problem_); }

 private:
  void give_up(const std::string& why) { problem_ = why; }

  std::string kind_of(const std::string& folder) const {
    if (const Text level = root_.text(folder + "/md/level"); level.has_value()) {
      return " (" + *level + ")";
    }
    if (const Text mapped = root_.text(folder + "/dm/name"); mapped.has_value()) {
      return " (" + *mapped + ")";
    }
    return "";
  }

  // The file of a loop device is named as seen where the device was set up.
  void take_file(const std::string& file, int depth) {
    const Text table = root_.read("proc/self/mountinfo");
    const auto mount = table.has_value() ? mount_of(*table, file) : std::nullopt;
    if (!mount || mount->device_number.starts_with("0:")) {
      return give_up("the loop's file " + base::printable(file, 200) + " cannot be followed");
    }
    take(root_.resolved("sys/dev/block/" + mount->device_number), depth + 1);
  }

  const Root& root_;
  std::vector<std::string> layers_, disks_;
  std::string problem_;
};

/// Members of the btrfs that has this device.
std::vector<std::string> btrfs_members(const Root& root, const std::string& device) {
  for (const std::string& id : root.names("sys/fs/btrfs")) {
    std::vector<std::string> members = root.names("sys/fs/btrfs/" + id + "/devices");
    if (std::find(members.begin(), members.end(), device) != members.end()) return members;
  }
  return {device};
}

std::string why_not_followed(const Mount& mount) {
  if (mount.type == "tmpfs" || mount.type == "ramfs") return mount.type + " lies in memory";
  if (mount.type == "overlay") return "overlay: its layers may lie on several devices";
  return mount.type + " has no block device of its own here (" +
         base::printable(mount.source, 200) + ")";
}

Descent descend(const Root& root, const Mount& mount, std::string& problem) {
  Descent descent(root);
  if (!mount.device_number.starts_with("0:")) {
    descent.take(root.resolved("sys/dev/block/" + mount.device_number), 0);
  } else if (mount.type == "btrfs" && mount.source.starts_with("/dev/")) {
    const std::string name = std::filesystem::path(mount.source).filename().string();
    for (const std::string& member : btrfs_members(root, name)) descent.take_named(member);
  } else {
    problem = why_not_followed(mount);
  }
  return descent;
}

Text pci_address_of(const Root& root, const std::string& disk) {
  std::string folder = root.resolved("sys/class/block/" + disk);
  if (const std::size_t at = folder.find("/nvme-subsystem/"); at != std::string::npos) {
    // With native multipath a drive hangs below its subsystem, which links to its controllers.
    const std::string subsystem = std::filesystem::path(folder).parent_path().string();
    for (const std::string& name : root.names(subsystem)) {
      if (!root.exists("sys/class/nvme/" + name)) continue;
      folder = root.resolved("sys/class/nvme/" + name);
      break;
    }
  }
  std::string address;
  for (const std::string& part : base::split(folder, '/')) {
    if (!part.empty() && normal_pci_address(part) == part) address = part;
  }
  return address.empty() ? Text::missing("no PCI device stands in its path in sysfs")
                         : Text(address);
}

template <class T>
Measured<T> known(const std::optional<T>& value, const char* why) {
  return value ? Measured<T>(*value) : Measured<T>::missing(why);
}

std::optional<int> smaller(std::optional<int> a, std::optional<int> b) {
  return a && b ? std::optional(std::min(*a, *b)) : a ? a : b;
}

void take_link(const PciTree& tree, const PciDevice& device, StorageDisk& disk) {
  constexpr const char* kUntold = "sysfs does not tell";
  const PciDevice* port = device.bridges.empty() ? nullptr : tree.find(device.bridges.back());
  disk.pci_bridges = device.bridges;
  disk.pcie_generation = known(pcie_generation(device.speed).value, kUntold);
  disk.pcie_width = known(device.width, kUntold);
  std::optional<int> generation = pcie_generation(device.max_speed).value;
  std::optional<int> width = device.max_width;
  if (port != nullptr) {
    generation = smaller(generation, pcie_generation(port->max_speed).value);
    width = smaller(width, port->max_width);
  }
  disk.pcie_generation_max = known(generation, kUntold);
  disk.pcie_width_max = known(width, kUntold);
  const bool has_node = device.numa_node && *device.numa_node >= 0;
  disk.numa_node = has_node ? Measured<int>(*device.numa_node)
                            : Measured<int>::missing("the kernel does not know");
}

StorageDisk disk_facts(const Root& root, const PciTree& tree, const std::string& name) {
  StorageDisk disk;
  disk.name = name;
  disk.model = root.text("sys/class/block/" + name + "/device/model");
  disk.pci_address = pci_address_of(root, name);
  const PciDevice* device = disk.pci_address.has_value() ? tree.find(*disk.pci_address) : nullptr;
  if (device != nullptr) {
    take_link(tree, *device, disk);
    return disk;
  }
  const std::string why =
      disk.pci_address.has_value() ? "no such device in /sys/bus/pci" : disk.pci_address.reason;
  disk.pci_bridges = Names::missing(why);
  disk.pcie_generation = disk.pcie_generation_max = disk.pcie_width = disk.pcie_width_max =
      disk.numa_node = Measured<int>::missing(why);
  return disk;
}

}  // namespace

StorageFacts storage_facts(const Root& root, const std::string& folder) {
  using Disks = Measured<std::vector<StorageDisk>>;
  StorageFacts facts;
  facts.folder = folder;
  const Text table = root.read("proc/self/mountinfo");
  const std::optional<Mount> mount = table.has_value() ? mount_of(*table, folder) : std::nullopt;
  if (!mount) {
    const std::string why = table.has_value() ? "no mount point holds the folder" : table.reason;
    facts.mount = facts.file_system = facts.device = Text::missing(why);
    facts.layers = Names::missing(why);
    facts.disks = Disks::missing(why);
    return facts;
  }
  facts.mount = mount->point;
  facts.file_system = mount->type;
  facts.device = mount->source;
  std::string problem;
  const Descent descent = descend(root, *mount, problem);
  facts.layers = problem.empty() ? descent.layers() : Names::missing(problem);
  const Names names = problem.empty() ? descent.disks() : Names::missing(problem);
  facts.disks = Disks::missing(names.reason);
  if (!names.has_value()) return facts;
  const PciTree tree = read_sysfs_tree(root);
  std::vector<StorageDisk> disks;
  for (const std::string& name : *names) disks.push_back(disk_facts(root, tree, name));
  facts.disks = std::move(disks);
  return facts;
}

Measured<StorageFacts> find_storage(const std::string& folder) {
  using Facts = Measured<StorageFacts>;
  if (folder.empty()) return Facts::missing("synthetic data lies nowhere");
  std::error_code error;
  const auto real = std::filesystem::weakly_canonical(folder, error);
  if (error) return Facts::missing(base::printable(folder, 200) + ": " + error.message());
  return storage_facts(Root(), real.string());
}

}  // namespace falcon::platform
