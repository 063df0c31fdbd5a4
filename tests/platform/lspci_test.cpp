#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/errors.h"
#include "platform/dump/read_lspci.h"

namespace falcon::platform {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Two root complexes; behind the first a switch with a drive and an empty slot.
constexpr const char* kTree =
    "-+-[0000:40]-+-00.0  Advanced Micro Devices, Inc. [AMD] Device 14a4\n"
    " |           +-01.1-[41]--+-00.0  NVIDIA Corporation AD102GL [RTX 6000 Ada Generation]\n"
    " |           |            \\-00.1  NVIDIA Corporation AD102 High Definition Audio Controller\n"
    " |           \\-01.2-[61-64]----00.0-[62-64]--+-00.0-[63]----00.0  Samsung Electronics Co Ltd "
    "NVMe "
    "SSD Controller\n"
    " |                                           \\-04.0-[64]--\n"
    " \\-[0001:00]---01.0-[01]----00.0  NVIDIA Corporation GH100 [H100 NVSwitch]\n";

TEST(LspciTree, PathsFromTheRootComplexDown) {
  EXPECT_TRUE(begins_lspci_tree("-+-[0000:40]-+-00.0  A"));
  const PciTree tree = read_lspci_tree(kTree);
  const PciDevice* gpu = tree.find("0000:41:00.0");
  ASSERT_NE(gpu, nullptr);
  EXPECT_EQ(gpu->root, "0000:40");
  EXPECT_THAT(gpu->bridges, ElementsAre("0000:40:01.1"));
  const PciDevice* drive = tree.find("0000:63:00.0");
  ASSERT_NE(drive, nullptr);
  EXPECT_THAT(drive->bridges, ElementsAre("0000:40:01.2", "0000:61:00.0", "0000:62:00.0"));
  EXPECT_EQ(tree.find("0001:01:00.0")->root, "0001:00");
  EXPECT_EQ(tree.find("0000:62:04.0")->kind, DeviceKind::kBridge);
}

TEST(LspciTree, ASecondFunctionAndAnNvSwitchAreNoGpus) {
  const PciTree tree = read_lspci_tree(kTree);
  EXPECT_EQ(tree.of_kind(DeviceKind::kGpu).size(), 1u);
  EXPECT_EQ(tree.find("0001:01:00.0")->kind, DeviceKind::kNvSwitch);
  EXPECT_EQ(tree.find("0000:63:00.0")->kind, DeviceKind::kNvme);
}

TEST(LspciTree, TextThatIsNoneIsRefused) {
  EXPECT_FALSE(begins_lspci_tree("-rw-r--r-- 1 a"));
  EXPECT_FALSE(begins_lspci_tree(" +-[0000:40]-+-00.0  A"));
  EXPECT_THROW(read_lspci_tree("-[0000:00]-+-zz.0  A\n"), Error);
  EXPECT_THROW(read_lspci_tree(" +-00.0  A\n"), Error);
}

constexpr const char* kListing =
    "01:00.0 VGA compatible controller [0300]: NVIDIA Corporation AD102GL [10de:26b1] (rev a1)\n"
    "\tNUMA node: 1\n"
    "\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM L1\n"
    "\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x8 (downgraded)\n"
    "\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir-\n"
    "02:00.0 Non-Volatile memory controller: Samsung\n";

TEST(LspciListing, ClassNumbersNodeAndLink) {
  EXPECT_TRUE(
      begins_lspci_listing("01:00.0 VGA compatible controller: NVIDIA Corporation AD102GL"));
  EXPECT_FALSE(begins_lspci_listing("01:00.0 is the card: it is new"));
  const PciTree listing = read_lspci_listing(kListing);
  ASSERT_EQ(listing.devices.size(), 2u);
  const PciDevice& gpu = listing.devices[0];
  EXPECT_EQ(gpu.kind, DeviceKind::kGpu);
  EXPECT_EQ(gpu.vendor, 0x10de);
  EXPECT_EQ(gpu.device, 0x26b1);
  EXPECT_EQ(gpu.numa_node, 1);
  EXPECT_EQ(gpu.max_speed, "16GT/s");
  EXPECT_EQ(gpu.speed, "2.5GT/s (downgraded)");
  EXPECT_EQ(gpu.width, 8);
  EXPECT_EQ(listing.devices[1].kind, DeviceKind::kNvme);
}

TEST(LspciListing, LinesWithTheAddressBeforeThem) {
  const PciTree listing = read_lspci_listing(
      "41:00.0 | 41:00.0 3D controller: NVIDIA Corporation GH100\n41:00.0 | NUMA node: 0\n");
  ASSERT_EQ(listing.devices.size(), 1u);
  EXPECT_EQ(listing.devices[0].numa_node, 0);
}

TEST(AccessControl, BitsThatAreOnAreCounted) {
  const auto control = read_access_control(kListing);
  ASSERT_TRUE(control.has_value());
  EXPECT_EQ(control->lines, 1);
  EXPECT_THAT(control->bits_on,
              ElementsAre(testing::Pair("SrcValid", 1), testing::Pair("ReqRedir", 1)));
  EXPECT_THAT(read_access_control("ACSCtl: SrcValid-\n")->bits_on, IsEmpty());
  EXPECT_FALSE(read_access_control("nothing\n").has_value());
}

}  // namespace
}  // namespace falcon::platform
