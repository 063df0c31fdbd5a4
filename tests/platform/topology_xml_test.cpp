// hwloc's and NCCL's XML.
#include <cstdio>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/errors.h"
#include "platform/dump/read_hwloc.h"
#include "platform/dump/read_nccl.h"
#include "platform/dump/xml.h"

namespace falcon::platform {
namespace {

using testing::ElementsAre;

TEST(Xml, TheFirstElementAfterCommentsAndTypes) {
  EXPECT_EQ(
      xml_root_name("<?xml version=\"1.0\"?>\n<!-- <a> -->\n<!DOCTYPE b>\n<system version=\"1\">"),
      "system");
  EXPECT_EQ(xml_root_name("no XML"), "");
  EXPECT_EQ(xml_root_name("<!-- never closed <a>"), "");
}

TEST(Xml, ACutFileIsRefusedWithALine) {
  pugi::xml_document document;
  try {
    parse_xml("<system>\n<cpu numaid=\"0\">\n", document);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("line"));
  }
}

constexpr const char* kHwloc = R"(<topology version="2.0">
 <object type="Machine" nodeset="0x101">
  <info name="Architecture" value="ppc64le"/>
  <object type="Package" nodeset="0x100">
   <object type="NUMANode" os_index="8" cpuset="0xff" nodeset="0x100" local_memory="1000"/>
   <object type="Bridge" bridge_type="0-1" bridge_pci="0004:[00-04]">
    <object type="Bridge" bridge_type="1-1" pci_busid="0004:00:00.0" pci_type="0604 [1014:04c1] [0000:0000] 00">
     <object type="PCIDev" gp_index="7" pci_busid="0004:04:00.0" pci_type="0302 [10de:1db1] [10de:1212] a1" pci_link_speed="15.753846">
      <object type="OSDev" gp_index="9" name="nvml0"/>
     </object>
     <object type="PCIDev" gp_index="8" subtype="NVSwitch" pci_busid="0004:05:00.0" pci_type="0000 [0000:0000]" pci_link_speed="0.0"/>
    </object>
   </object>
  </object>
 </object>
 <distances2hetero nbobjs="2" name="NVLinkBandwidth">
  <indexes length="9">OSDev:9 </indexes><indexes length="9">PCIDev:8 </indexes>
  <u64values length="9">0 50000 50000 0 </u64values>
 </distances2hetero>
</topology>)";

TEST(Hwloc, PathsNodesNamesAndNvlink) {
  const HwlocMachine machine = read_hwloc(kHwloc);
  const PciDevice* gpu = machine.tree.find("0004:04:00.0");
  ASSERT_NE(gpu, nullptr);
  EXPECT_EQ(gpu->root, "hb:0004:[00-04]");
  EXPECT_THAT(gpu->bridges, ElementsAre("0004:00:00.0"));
  EXPECT_THAT(gpu->numa_nodes, ElementsAre(8));
  EXPECT_THAT(gpu->os_devices, ElementsAre("nvml0"));
  EXPECT_DOUBLE_EQ(gpu->link_gb_per_s.value(), 15.753846);
  EXPECT_EQ(machine.tree.find("0004:05:00.0")->kind, DeviceKind::kNvSwitch);
  EXPECT_FALSE(machine.tree.find("0004:05:00.0")->link_gb_per_s.has_value());  // 0 is unknown
  EXPECT_EQ(machine.tree.architecture, "ppc64le");
  ASSERT_EQ(machine.tree.nvlink.size(), 1u);
  EXPECT_EQ(machine.tree.nvlink[0].links, 2);
  EXPECT_TRUE(machine.tree.nvlink[0].is_switch);
  ASSERT_EQ(machine.nodes.size(), 1u);
  EXPECT_EQ(machine.nodes[0].memory_bytes, 1000);
}

TEST(Hwloc, AGpuThatIsNowhereOnPciLeavesTheDevicesOpen) {
  const char* kDevice = R"(<topology version="2.0"><object type="Machine">
    <object type="PCIDev" pci_busid="0000:01:00.0" pci_type="0200 [15b3:1019] [15b3:0008] 00"/>%s
    </object></topology>)";
  char text[600];
  std::snprintf(text, sizeof text, kDevice, "");
  EXPECT_TRUE(read_hwloc(text).tree.tells_kinds);
  std::snprintf(text, sizeof text, kDevice,
                "<object type=\"OSDev\" name=\"cuda0\" subtype=\"CUDA\"/>");
  EXPECT_FALSE(read_hwloc(text).tree.tells_kinds);
}

constexpr const char* kNccl = R"(<!-- written by hand --><system version="1">
 <cpu numaid="1" affinity="00000000,0000000f" arch="x86_64">
  <pci busid="ffff:ff:01.0" class="0x060400" link_speed="16 GT/s" link_width="16">
   <pci busid="0003:00:00.0" class="0x030200" link_speed="" link_width="0"/> <!-- one -->
   <pci busid="0103:00:00.0" class="0x020700"><nic><net name="mlx5_0"/></nic></pci>
  </pci>
 </cpu>
</system>)";

TEST(Nccl, AFileByHandHasNoGpuElements) {
  const PciTree tree = read_nccl(kNccl);
  const PciDevice* gpu = tree.find("0003:00:00.0");
  ASSERT_NE(gpu, nullptr);
  EXPECT_EQ(gpu->kind, DeviceKind::kGpu);
  EXPECT_THAT(gpu->bridges, ElementsAre("ffff:ff:01.0"));
  EXPECT_EQ(gpu->numa_node, 1);
  EXPECT_EQ(gpu->cpus, "0-3");
  EXPECT_EQ(gpu->width, std::nullopt);  // 0 is unknown
  EXPECT_FALSE(tree.tells_nvlink);
  EXPECT_THAT(tree.find("0103:00:00.0")->os_devices, ElementsAre("mlx5_0"));
}

TEST(Nccl, ADumpMarksItsGpusAndTheirLinks) {
  const PciTree tree = read_nccl(R"(<system version="1"><cpu numaid="-1">
    <pci busid="0000:00:06.0" class="0x030200" vendor="0x10de"><gpu dev="1">
      <nvlink target="fffffff:ff:ff.0" count="18" tclass="0x068000"/></gpu></pci>
    <pci busid="0000:00:02.0" class="0x030000" vendor="0x1234"/></cpu></system>)");
  ASSERT_EQ(tree.of_kind(DeviceKind::kGpu).size(), 1u);
  ASSERT_EQ(tree.nvlink.size(), 1u);
  EXPECT_EQ(tree.nvlink[0].links, 18);
  EXPECT_TRUE(tree.nvlink[0].is_switch);
  EXPECT_EQ(tree.nccl_devices[0], 1);
}

TEST(Nccl, LinksThatAreNotAsNcclWritesThemTellNothing) {
  const PciTree tree = read_nccl(R"(<system version="1"><cpu numaid="0">
    <pci busid="0000:00:06.0" class="0x030200" vendor="0x10de"><gpu dev="0">
      <nvlink target="1,2,3" nlinks="18"/></gpu></pci></cpu></system>)");
  EXPECT_FALSE(tree.tells_nvlink);
  EXPECT_TRUE(tree.nvlink.empty());
  EXPECT_TRUE(tree.tells_kinds);
}

TEST(Nccl, DevicesWithoutAClassMayBeAnything) {
  EXPECT_FALSE(read_nccl(R"(<system><cpu numaid="0"><pci busid="0000:00:16.0"/></cpu></system>)")
                   .tells_kinds);
}

TEST(Nccl, SeveralHostsInOneFileAreRefused) {
  EXPECT_THROW(
      read_nccl(
          R"(<system><cpu host_hash="0x1" numaid="0"/><cpu host_hash="0x2" numaid="0"/></system>)"),
      Error);
}

}  // namespace
}  // namespace falcon::platform
