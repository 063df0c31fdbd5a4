#include "platform/block_device.h"

#include <filesystem>

#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace falcon::platform {

using Text = Measured<std::string>;

Text device_number_of(const std::string& path) {
  if (path.empty()) return Text::missing("no data folder: synthetic data");
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return Text::missing(path + " is not there");
  if (major(facts.st_dev) == 0) {
    return Text::missing(path + " lies on a file system without a block device of its own");
  }
  return std::to_string(major(facts.st_dev)) + ":" + std::to_string(minor(facts.st_dev));
}

Text disk_of(const Root& root, const std::string& device_number) {
  const std::string link = "sys/dev/block/" + device_number;
  const std::string folder = root.resolved(link);
  if (folder.empty()) return Text::missing("/" + link + " is not there");
  const std::filesystem::path device = folder;
  if (root.exists(folder + "/partition")) return device.parent_path().filename().string();
  return device.filename().string();
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
    disks.push_back(name);
  }
  return disks;
}

}  // namespace falcon::platform
