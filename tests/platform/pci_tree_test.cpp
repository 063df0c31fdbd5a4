#include "platform/machine/pci_tree.h"

#include <gtest/gtest.h>

namespace falcon::platform {
namespace {

PciDevice device(const std::string& address, const std::string& root,
                 std::vector<std::string> bridges, int node) {
  PciDevice made;
  made.address = address;
  made.root = root;
  made.bridges = std::move(bridges);
  made.numa_node = node;
  return made;
}

std::string between(const PciDevice& a, const PciDevice& b, std::vector<int> nodes = {0, 1}) {
  PciTree tree;
  tree.numa_nodes = std::move(nodes);
  const auto found = pair_class(tree, a, b);
  EXPECT_EQ(found.value, pair_class(tree, b, a).value);
  return found.value.value_or("?");
}

TEST(PairClass, ByTheLastBridgeInCommon) {
  const PciDevice a = device("a", "pci0", {"port", "up", "down0"}, 0);
  EXPECT_EQ(between(a, device("b", "pci0", {"port", "up", "down1"}, 0)), "PIX");
  EXPECT_EQ(between(a, device("b", "pci0", {"port", "up", "down1", "up2", "down2"}, 0)), "PXB");
  EXPECT_EQ(between(a, device("b", "pci0", {"port2"}, 0)), "PHB");
  EXPECT_EQ(between(device("a", "pci0", {"port"}, 0), device("b", "pci0", {"port"}, 0)), "PIX");
  EXPECT_EQ(between(device("a", "pci0", {}, -1), device("b", "pci0", {}, -1)), "PHB");
}

TEST(PairClass, DifferentRootComplexesByNumaNode) {
  const PciDevice a = device("a", "pci0", {"p"}, 0);
  EXPECT_EQ(between(a, device("b", "pci1", {"q"}, 0)), "NODE");
  EXPECT_EQ(between(a, device("b", "pci1", {"q"}, 1)), "SYS");
}

TEST(PairClass, AnUnknownNodeLeavesItOpenButOnMachinesWithOne) {
  const PciDevice a = device("a", "pci0", {"p"}, 0);
  const PciDevice b = device("b", "pci1", {"q"}, -1);
  EXPECT_EQ(between(a, b), "?");
  EXPECT_EQ(between(a, b, {0}), "NODE");
  EXPECT_EQ(between(a, device("c", "", {}, 0)), "?");
  EXPECT_EQ(between(a, device("c", "", {}, 1)), "SYS");
}

TEST(PairClass, SetsOfNodes) {
  PciDevice a = device("a", "pci0", {"p"}, -1);
  PciDevice b = device("b", "pci1", {"q"}, -1);
  a.numa_nodes = {0};
  b.numa_nodes = {0, 1};
  EXPECT_EQ(between(a, b), "?");
  b.numa_nodes = {1, 2};
  EXPECT_EQ(between(a, b), "SYS");
}

TEST(PairClass, NcclShowsSwitchesAsOneEntryAndNoHostBridges) {
  PciTree tree;
  tree.shows_bridge_ports = false;
  const PciDevice a = device("a", "", {"s0", "s1"}, 0);
  const auto to = [&](std::vector<std::string> bridges, int node) {
    return pair_class(tree, a, device("b", "", std::move(bridges), node)).value.value_or("?");
  };
  EXPECT_EQ(to({"s0", "s1"}, 0), "PIX");
  EXPECT_EQ(to({"s0", "s2"}, 0), "PXB");
  EXPECT_EQ(to({"s3"}, 0), "PHB*");
  EXPECT_EQ(to({"s3"}, 1), "SYS");
  EXPECT_EQ(to({"s3"}, -1), "?");
}

TEST(PcieGeneration, AllSpellings) {
  EXPECT_EQ(pcie_generation("2.5 GT/s PCIe").value, 1);
  EXPECT_EQ(pcie_generation("8 GT/s").value, 3);
  EXPECT_EQ(pcie_generation("16GT/s").value, 4);
  EXPECT_EQ(pcie_generation("32.0 GT/s PCIe").value, 5);
  EXPECT_EQ(pcie_generation("64.0 GT/s PCIe").value, 6);
  for (const char* text : {"", "Unknown", "Unknown speed", "3.0 GT/s", "8"}) {
    EXPECT_FALSE(pcie_generation(text).has_value()) << text;
    EXPECT_FALSE(pcie_generation(text).reason.empty());
  }
}

TEST(DeviceKind, ClassAndVendor) {
  EXPECT_EQ(kind_of(0x030200, 0x10de), DeviceKind::kGpu);
  EXPECT_EQ(kind_of(0x030000, 0x102b), DeviceKind::kDisplay);
  EXPECT_EQ(kind_of(0x040300, 0x10de), DeviceKind::kOther);  // its sound
  EXPECT_EQ(kind_of(0x068000, 0x10de), DeviceKind::kNvSwitch);
  EXPECT_EQ(kind_of(0x0b4000, 0x1bcf), DeviceKind::kAccelerator);
  EXPECT_EQ(kind_of(0x038000, 0x1002), DeviceKind::kAccelerator);
  EXPECT_EQ(kind_of(0x038000, 0x8086), DeviceKind::kOther);
  EXPECT_EQ(kind_of(0x060401, 0x8086), DeviceKind::kBridge);
  EXPECT_EQ(kind_of(0x010802, 0x144d), DeviceKind::kNvme);
  EXPECT_EQ(kind_of(-1, -1), DeviceKind::kOther);
}

}  // namespace
}  // namespace falcon::platform
