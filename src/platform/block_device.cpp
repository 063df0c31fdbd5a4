#include "platform/block_device.h"

#include <filesystem>
#include <set>
#include <sstream>

#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace falcon::platform {

namespace {

std::string number_text(dev_t device) {
  return std::to_string(major(device)) + ":" + std::to_string(minor(device));
}

// A line of the mount table (proc(5)): id, parent, device number, root, mount point, options,
// optional fields, "-", type, source.
std::string source_of(const std::string& device_number) {
  const auto table = Root().read("proc/self/mountinfo");
  std::istringstream lines(table.value.value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string id, parent, number, word, type, source;
    words >> id >> parent >> number;
    if (number != device_number) continue;
    while (words >> word && word != "-") {
    }
    words >> type >> source;
    return source;
  }
  return "";
}

/// Whole disk of a block device given by its folder in sysfs.
std::string whole_disk(const Root& root, const std::string& folder) {
  const std::filesystem::path device = folder;
  const bool is_part = root.exists(folder + "/partition");
  return (is_part ? device.parent_path() : device).filename().string();
}

void add_below(const Root& root, const std::string& disk, std::set<std::string>& out) {
  const std::string slaves = "sys/block/" + disk + "/slaves";
  for (const std::string& name : root.names(slaves)) {
    const std::string folder = root.resolved((std::filesystem::path(slaves) / name).string());
    const std::string below = folder.empty() ? name : whole_disk(root, folder);
    if (out.insert(below).second) add_below(root, below, out);
  }
}

}  // namespace

using Text = Measured<std::string>;

Text device_number_of(const std::string& path) {
  if (path.empty()) return Text::missing("no data folder: synthetic data");
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return Text::missing(path + " is not there");
  if (major(facts.st_dev) != 0) return number_text(facts.st_dev);
  const std::string source = source_of(number_text(facts.st_dev));
  if (source.starts_with("/dev/") && stat(source.c_str(), &facts) == 0 && S_ISBLK(facts.st_mode)) {
    return number_text(facts.st_rdev);
  }
  return Text::missing(path + " lies on a file system without a block device of its own");
}

Text disk_of(const Root& root, const std::string& device_number) {
  const std::string link = "sys/dev/block/" + device_number;
  const std::string folder = root.resolved(link);
  if (folder.empty()) return Text::missing("/" + link + " is not there");
  return whole_disk(root, folder);
}

std::vector<std::string> disks_below(const Root& root, const std::string& disk) {
  std::set<std::string> below;
  add_below(root, disk, below);
  return {below.begin(), below.end()};
}

Measured<std::vector<std::string>> physical_disks(const Root& root) {
  if (!root.exists("sys/block")) {
    return Measured<std::vector<std::string>>::missing("there is no /sys/block");
  }
  std::vector<std::string> disks;
  for (const std::string& name : root.names("sys/block")) {
    // Only devices of a driver have this link; empty card readers and drives have size 0.
    if (!root.exists("sys/block/" + name + "/device")) continue;
    if (root.integer("sys/block/" + name + "/size").value.value_or(1) == 0) continue;
    // One of several paths to an NVMe namespace: the namespace counts.
    if (root.integer("sys/block/" + name + "/hidden").value.value_or(0) == 1) continue;
    disks.push_back(name);
  }
  return disks;
}

}  // namespace falcon::platform
