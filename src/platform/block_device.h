// Which block device holds a folder, and which block devices are physical disks.
#pragma once
#include <string>
#include <vector>

#include "falconbench/measured.h"
#include "platform/root.h"

namespace falcon::platform {

/// "259:1" (major:minor) of what a file or folder lies on, also of file systems that hide it and
/// name it in the mount table (btrfs); missing for those without a block device (tmpfs, overlay,
/// network) and for "" (synthetic data).
Measured<std::string> device_number_of(const std::string& path);

/// Whole disk of a device number: of partition 259:1 that is e.g. nvme0n1; a dm-0 stays dm-0.
Measured<std::string> disk_of(const Root& root, const std::string& device_number);

/// The devices that a disk is made of, down to the last: of LVM, md and other mappings; sorted.
/// Empty for a disk that is not made of others.
std::vector<std::string> disks_below(const Root& root, const std::string& disk);

/// Disks with hardware behind them: not loop, zram, dm and such. Missing where sysfs is.
Measured<std::vector<std::string>> physical_disks(const Root& root);

}  // namespace falcon::platform
