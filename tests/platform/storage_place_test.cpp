#include "platform/storage_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace falcon::platform {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

StorageFacts facts_of(const test::FakeRoot& root, const std::string& folder) {
  return storage_facts(Root(root.path()), folder);
}

/// mountinfo with one file system at /data.
void mount(test::FakeRoot& root, const std::string& number, const std::string& type,
           const std::string& source) {
  root.file("proc/self/mountinfo",
            "30 22 " + number + " / /data rw - " + type + " " + source + " rw\n");
}

/// A disk or partition; folder below sys/devices.
void block(test::FakeRoot& root, const std::string& folder, const std::string& number) {
  root.file("sys/devices/" + folder + "/size", "8\n");
  const std::string name = folder.substr(folder.rfind('/') + 1);
  root.link("sys/dev/block/" + number, "../../devices/" + folder);
  root.link("sys/class/block/" + name, "../../devices/" + folder);
}

constexpr const char* kDrive = "pci0000:40/0000:40:01.1/0000:41:00.0/nvme/nvme0/nvme0n1";

void drive(test::FakeRoot& root) {
  block(root, kDrive, "259:0");
  root.file(std::string("sys/devices/") + kDrive + "/nvme0n1p2/partition", "2\n");
  root.link("sys/dev/block/259:2", std::string("../../devices/") + kDrive + "/nvme0n1p2");
  root.link("sys/class/block/nvme0n1p2", std::string("../../devices/") + kDrive + "/nvme0n1p2");
  root.link(std::string("sys/devices/") + kDrive + "/device", "..");
  root.file("sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0/nvme/nvme0/model", "EXAMPLE 4TB \n");
  const std::string function = "sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0/";
  root.file(function + "class", "0x010802\n");
  root.file(function + "current_link_speed", "8.0 GT/s PCIe\n");
  root.file(function + "max_link_speed", "16.0 GT/s PCIe\n");
  root.file(function + "current_link_width", "2\n");
  root.file(function + "max_link_width", "8\n");
  root.file(function + "numa_node", "1\n");
  const std::string port = "sys/devices/pci0000:40/0000:40:01.1/";
  root.file(port + "class", "0x060400\n");
  root.file(port + "max_link_speed", "32.0 GT/s PCIe\n");
  root.file(port + "max_link_width", "4\n");
  for (const char* address : {"0000:40:01.1", "0000:40:01.1/0000:41:00.0"}) {
    const std::string path = address;
    root.link("sys/bus/pci/devices/" + path.substr(path.rfind('/') + 1),
              "../../../devices/pci0000:40/" + path);
  }
}

TEST(StoragePlace, TheLongestMountThatHoldsTheFolder) {
  test::FakeRoot root;
  root.file("proc/self/mountinfo",
            "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n"
            "30 22 259:5 / /mnt rw - xfs /dev/nvme1n1 rw\n"
            "31 30 0:52 / /mnt/my\\040data rw shared:7 master:2 - nfs4 server:/export rw\n"
            "32 30 259:6 / /mnt rw - ext4 /dev/nvme2n1 rw\n"
            "garbled\n");
  EXPECT_EQ(*facts_of(root, "/srv/x").device, "/dev/nvme0n1p2");
  EXPECT_EQ(*facts_of(root, "/mnt/my data/train").file_system, "nfs4");
  EXPECT_EQ(*facts_of(root, "/mnt/my data").mount, "/mnt/my data");
  EXPECT_EQ(*facts_of(root, "/mnt/my database").device, "/dev/nvme2n1");
  EXPECT_EQ(*facts_of(root, "/mntx").mount, "/");
}

TEST(StoragePlace, NothingIsMissingWithAReason) {
  test::FakeRoot root;
  root.file("proc/self/mountinfo", "\n");
  EXPECT_EQ(facts_of(root, "/data").mount.reason, "no mount point holds the folder");
  EXPECT_EQ(facts_of(root, "/data").disks.reason, "no mount point holds the folder");
  EXPECT_EQ(find_storage("").reason, "synthetic data lies nowhere");
}

TEST(StoragePlace, ADriveWithItsPathAndLink) {
  test::FakeRoot root;
  drive(root);
  mount(root, "259:2", "ext4", "/dev/nvme0n1p2");
  const StorageFacts facts = facts_of(root, "/data/set");
  EXPECT_THAT(*facts.layers, ElementsAre("nvme0n1p2", "nvme0n1"));
  ASSERT_EQ(facts.disks.value->size(), 1U);
  const StorageDisk& disk = facts.disks.value->front();
  EXPECT_EQ(disk.name, "nvme0n1");
  EXPECT_EQ(*disk.model, "EXAMPLE 4TB");
  EXPECT_EQ(*disk.pci_address, "0000:41:00.0");
  EXPECT_THAT(*disk.pci_bridges, ElementsAre("0000:40:01.1"));
  EXPECT_EQ(*disk.pcie_generation, 3);
  EXPECT_EQ(*disk.pcie_generation_max, 4);
  EXPECT_EQ(*disk.pcie_width, 2);
  EXPECT_EQ(*disk.pcie_width_max, 4);  // the slot's
  EXPECT_EQ(*disk.numa_node, 1);
}

TEST(StoragePlace, LvmOverRaidIsFollowedToTheDisks) {
  test::FakeRoot root;
  drive(root);
  block(root, "pci0000:40/0000:40:02.0/ata1/sda", "8:0");
  block(root, "virtual/block/md0", "9:0");
  root.file("sys/devices/virtual/block/md0/md/level", "raid0\n");
  root.link("sys/devices/virtual/block/md0/slaves/nvme0n1p2",
            std::string("../../../../") + kDrive + "/nvme0n1p2");
  root.link("sys/devices/virtual/block/md0/slaves/sda",
            "../../../../pci0000:40/0000:40:02.0/ata1/sda");
  block(root, "virtual/block/dm-0", "252:0");
  root.file("sys/devices/virtual/block/dm-0/dm/name", "vg-data\n");
  root.link("sys/devices/virtual/block/dm-0/slaves/md0", "../../md0");
  mount(root, "252:0", "xfs", "/dev/mapper/vg-data");
  const StorageFacts facts = facts_of(root, "/data");
  EXPECT_THAT(*facts.layers,
              ElementsAre("dm-0 (vg-data)", "md0 (raid0)", "nvme0n1p2", "nvme0n1", "sda"));
  ASSERT_EQ(facts.disks.value->size(), 2U);
  EXPECT_EQ(facts.disks.value->at(1).name, "sda");
  EXPECT_EQ(*facts.disks.value->at(1).pci_address, "0000:40:02.0");
  EXPECT_FALSE(facts.disks.value->at(1).pcie_width.has_value());
}

TEST(StoragePlace, EveryMemberOfABtrfs) {
  test::FakeRoot root;
  drive(root);
  block(root, "pci0000:40/0000:40:02.0/ata1/sda", "8:0");
  for (const char* member : {"nvme0n1p2", "sda"}) {
    root.file(std::string("sys/fs/btrfs/1b2c/devices/") + member + "/size", "8\n");
  }
  mount(root, "0:45", "btrfs", "/dev/sda");
  const StorageFacts facts = facts_of(root, "/data");
  EXPECT_THAT(*facts.layers, ElementsAre("nvme0n1p2", "nvme0n1", "sda"));
  EXPECT_EQ(facts.disks.value->size(), 2U);
}

TEST(StoragePlace, ALoopIsFollowedToWhatHoldsItsFile) {
  test::FakeRoot root;
  drive(root);
  block(root, "virtual/block/loop0", "7:0");
  root.file("sys/devices/virtual/block/loop0/loop/backing_file", "/images/data.img\n");
  root.file(
      "proc/self/mountinfo",
      "22 1 259:2 / / rw - ext4 /dev/nvme0n1p2 rw\n30 22 7:0 / /data rw - ext4 /dev/loop0 rw\n");
  EXPECT_THAT(*facts_of(root, "/data").layers, ElementsAre("loop0", "nvme0n1p2", "nvme0n1"));
  mount(root, "7:0", "ext4", "/dev/loop0");
  EXPECT_THAT(facts_of(root, "/data").disks.reason, HasSubstr("/images/data.img"));
}

TEST(StoragePlace, NativeMultipathOfNvme) {
  test::FakeRoot root;
  drive(root);
  block(root, "virtual/nvme-subsystem/nvme-subsys0/nvme1n1", "259:9");
  root.link("sys/class/nvme/nvme1", std::string("../../devices/pci0000:40/0000:40:01.1/"
                                                "0000:41:00.0/nvme/nvme0"));
  root.link("sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme1",
            "../../../pci0000:40/0000:40:01.1/0000:41:00.0/nvme/nvme0");
  mount(root, "259:9", "ext4", "/dev/nvme1n1");
  EXPECT_EQ(*facts_of(root, "/data").disks.value->front().pci_address, "0000:41:00.0");
}

TEST(StoragePlace, WhatCannotBeFollowedSaysWhy) {
  test::FakeRoot root;
  const auto reason = [&](const std::string& type, const std::string& source) {
    mount(root, "0:45", type, source);
    const StorageFacts facts = facts_of(root, "/data");
    EXPECT_EQ(facts.layers.reason, facts.disks.reason);
    return facts.disks.reason;
  };
  EXPECT_THAT(reason("overlay", "overlay"), HasSubstr("several devices"));
  EXPECT_THAT(reason("tmpfs", "tmpfs"), HasSubstr("memory"));
  EXPECT_THAT(reason("nfs4", "server:/export"), HasSubstr("server:/export"));
  EXPECT_THAT(reason("zfs", "pool/data"), HasSubstr("pool/data"));
  mount(root, "259:2", "ext4", "/dev/nvme0n1p2");
  EXPECT_THAT(facts_of(root, "/data").disks.reason, HasSubstr("not in sysfs"));
}

TEST(StoragePlace, OfTheConstructedMachine) {
  test::FakeRoot root;
  root.expand_machine("paper-falcon4016");
  root.link("sys/class/block/nvme1n1", "../../block/nvme1n1");
  root.link("sys/dev/block/259:7", "../../block/nvme1n1");
  mount(root, "259:7", "ext4", "/dev/nvme1n1");
  const StorageDisk disk = facts_of(root, "/data").disks.value->front();
  EXPECT_EQ(*disk.pci_address, "0000:de:00.0");
  EXPECT_THAT(*disk.pci_bridges, ElementsAre("0000:d7:00.0", "0000:d8:00.0", "0000:d9:10.0"));
}

}  // namespace
}  // namespace falcon::platform
