#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "platform/detect.h"
#include "support/fake_host.h"

namespace falcon::platform {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// In the order that NVML might give them, which is not that of the bus.
constexpr const char* kTwoBoards = R"({"driver": "580.159.04", "cuda": 13000, "devices": [
  {"uuid": "GPU-b", "pci": "00000000:00:07.0", "name": "NVIDIA H200", "memory_bytes": 150000000000,
   "used_bytes": 2000000000, "pcie_generation": 5, "pcie_generation_max": 5, "pcie_width": 16,
   "pcie_width_max": 16, "power_limit_mw": 700000, "processes": [
     {"pid": 4242, "memory_bytes": 2000000000}, {"pid": 4243, "memory_bytes": 5}]},
  {"uuid": "GPU-a", "pci": "00000000:00:06.0", "name": "NVIDIA H200", "memory_bytes": 150000000000,
   "codes": {"nvmlDeviceGetEnforcedPowerLimit": 3}}]})";

Host detect_with(const test::FakeRoot& root, const test::FakeNvml& fake,
                 Environment environment = {}) {
  return detect(
      {.root = root.path(), .nvml = fake.open(), .affinity = {}, .environment = environment});
}

TEST(Gpus, AreInBusOrderWhateverNvmlsOrder) {
  test::FakeRoot root;
  root.expand_machine("h200-2gpu-vm");
  root.file("proc/4242/comm", "python\n");
  const Host host = detect_with(root, test::FakeNvml(kTwoBoards));
  ASSERT_EQ(host.gpus.size(), 2U);
  EXPECT_EQ(*host.driver, "580.159.04");
  EXPECT_EQ(*host.driver_cuda, "13.0");
  EXPECT_EQ(host.gpus[0].uuid, "GPU-a");
  EXPECT_EQ(host.gpus[0].pci_address, "0000:00:06.0");
  EXPECT_EQ(host.gpus[0].power_limit_w.reason,
            "nvmlDeviceGetEnforcedPowerLimit: Not Supported (NVML code 3)");
  EXPECT_FALSE(host.gpus[0].pcie_width.has_value());
  EXPECT_EQ(host.gpus[1].uuid, "GPU-b");
  EXPECT_EQ(*host.gpus[1].pcie_generation, 5);
  EXPECT_EQ(*host.gpus[1].pcie_width_max, 16);
  EXPECT_DOUBLE_EQ(*host.gpus[1].power_limit_w, 700);
  EXPECT_EQ(*host.gpus[1].memory_used_bytes, 2000000000);
  EXPECT_EQ(*host.gpus[1].compute_capability, "9.0");
  EXPECT_EQ(host.gpus[1].cuda_ordinal.reason, "CUDA was not asked");
  ASSERT_EQ(host.gpus[1].processes.size(), 2U);
  EXPECT_EQ(host.gpus[1].processes[0].name, "python");
  EXPECT_EQ(*host.gpus[1].processes[0].memory_bytes, 2000000000);
  EXPECT_EQ(host.gpus[1].processes[1].name, "");
}

TEST(Gpus, WhetherAnIommuTranslates) {
  test::FakeRoot root;
  for (const char* address : {"0000:00:06.0", "0000:00:07.0"}) {
    root.file(std::string("sys/bus/pci/devices/") + address + "/class", "0x030200\n");
  }
  root.file("sys/kernel/iommu_groups/12/type", "DMA-FQ\n");
  root.link("sys/bus/pci/devices/0000:00:06.0/iommu_group", "../../../../kernel/iommu_groups/12");
  const test::FakeNvml fake(kTwoBoards);
  Host host = detect_with(root, fake);
  EXPECT_EQ(*host.gpus[0].iommu, "DMA-FQ");
  EXPECT_EQ(*host.gpus[1].iommu, "none");
  root.remove("sys/bus/pci/devices/0000:00:07.0");
  host = detect_with(root, fake);
  EXPECT_EQ(host.gpus[1].iommu.reason, "/sys/bus/pci/devices/0000:00:07.0 is not there");
}

TEST(Gpus, AnUnknownNumaNodeIsNotNodeZero) {
  test::FakeRoot root;
  root.expand_machine("h200-2gpu-vm");
  Host host = detect_with(root, test::FakeNvml(kTwoBoards));
  EXPECT_EQ(host.gpus[0].numa_node.reason, "the kernel does not know (numa_node is -1)");
  root.remove("sys/bus/pci/devices/0000:00:06.0");
  root.file("sys/bus/pci/devices/0000:00:06.0/numa_node", "1\n");
  root.remove("sys/bus/pci/devices/0000:00:07.0");
  host = detect_with(root, test::FakeNvml(kTwoBoards));
  EXPECT_EQ(*host.gpus[0].numa_node, 1);
  EXPECT_THAT(host.gpus[1].numa_node.reason, HasSubstr("No such file"));
}

TEST(Gpus, OwnProcessIsNoForeignOne) {
  test::FakeRoot root;
  const test::FakeNvml fake(R"({"devices": [{"uuid": "GPU-a", "pci": "00000000:01:00.0",
    "processes": [{"pid": )" +
                            std::to_string(getpid()) + R"(, "memory_bytes": 1}]}]})");
  EXPECT_TRUE(detect_with(root, fake).gpus.at(0).processes.empty());
}

TEST(Gpus, PidsOfAContainerGetNoNames) {
  test::FakeRoot root;
  root.file(".dockerenv", "");
  root.file("proc/4242/comm", "somebody else\n");
  const Host host = detect_with(root, test::FakeNvml(kTwoBoards));
  EXPECT_EQ(host.gpus.at(1).processes.at(0).name, "");
}

TEST(Gpus, TwiceListedLostAndNamelessBoardsAreNotedNotCounted) {
  test::FakeRoot root;
  const Host host = detect_with(root, test::FakeNvml(R"({"devices": [
    {"uuid": "GPU-a", "pci": "00000000:01:00.0", "name": "A"},
    {"uuid": "GPU-a", "pci": "00000000:01:00.0", "name": "A"},
    {"uuid": "GPU-l", "pci": "00000000:02:00.0", "codes": {"nvmlDeviceGetUUID": 15}},
    {"uuid": "GPU-m", "pci": "00000000:03:00.0", "codes": {"nvmlDeviceGetHandleByIndex_v2": 15}},
    {"name": "no identity"}]})"));
  ASSERT_EQ(host.gpus.size(), 1U);
  EXPECT_THAT(host.notes,
              ElementsAre("entry 1 of NVML's list: the GPU at 0000:01:00.0 is listed twice",
                          "entry 2 of NVML's list: the GPU at 0000:02:00.0 is lost: "
                          "nvmlDeviceGetUUID: GPU is lost (NVML code 15)",
                          "entry 3 of NVML's list: nvmlDeviceGetHandleByIndex_v2: GPU is lost "
                          "(NVML code 15)",
                          "entry 4 of NVML's list: a GPU with neither UUID nor PCI address"));
}

TEST(Gpus, ARootOfItsOwnDoesNotSeeThisHostsGpus) {
  test::FakeRoot root;
  const Host host = detect({.root = root.path(), .nvml = {}, .affinity = {}, .environment = {{}}});
  EXPECT_EQ(host.driver.reason, "no NVML library belongs to this root");
}

TEST(Gpus, CudaVisibleDevicesHidesBoards) {
  test::FakeRoot root;
  const test::FakeNvml fake(kTwoBoards);
  const Host by_uuid = detect_with(root, fake, {{"CUDA_VISIBLE_DEVICES", "GPU-b"}});
  ASSERT_EQ(by_uuid.gpus.size(), 1U);
  EXPECT_EQ(by_uuid.gpus[0].uuid, "GPU-b");
  EXPECT_THAT(by_uuid.notes, ElementsAre("CUDA_VISIBLE_DEVICES=GPU-b hides 1 of 2 GPUs"));
  EXPECT_EQ(by_uuid.environment.at("CUDA_VISIBLE_DEVICES"), "GPU-b");
  const Host by_number = detect_with(root, fake, {{"CUDA_VISIBLE_DEVICES", "0"}});
  EXPECT_EQ(by_number.gpus.size(), 2U);
  EXPECT_THAT(by_number.notes.at(0), HasSubstr("only CUDA can tell"));
}

}  // namespace
}  // namespace falcon::platform
