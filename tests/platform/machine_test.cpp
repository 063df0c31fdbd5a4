// What is joined from files and from this host, where the machine files have no example.
#include "platform/machine/machine.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/detect.h"
#include "support/fake_host.h"

namespace falcon::platform {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The labels of topo -m of so many GPUs, all alike.
Dump labels(std::size_t count, const std::string& label, std::optional<std::string> node = "0") {
  TopoMatrix topo;
  for (std::size_t i = 0; i < count; ++i) {
    topo.gpus.push_back("GPU" + std::to_string(i));
    topo.cells.emplace_back(count, label);
    topo.cells.back()[i] = "X";
    topo.cpu_affinity.emplace_back();
    topo.numa_affinity.push_back(node);
  }
  Dump dump;
  dump.topo = FromFile<TopoMatrix>{"topo", std::move(topo)};
  return dump;
}

TEST(NvlinkOfLabels, MoreThanAGpuHasMustBeASwitch) {
  const Nvlink eight = make_machine(labels(8, "NV12")).nvlink;
  EXPECT_EQ(eight.via_switch.value, true);
  EXPECT_EQ(eight.links_per_gpu.value, std::vector<int>(8, 12));
}

TEST(NvlinkOfLabels, FourGpusWithFourLinksAPairOwnThem) {
  const Nvlink four = make_machine(labels(4, "NV4")).nvlink;
  EXPECT_EQ(four.via_switch.value, false);
  EXPECT_EQ(four.links_per_gpu.value, std::vector<int>(4, 12));
}

TEST(NvlinkOfLabels, TwoGpusWithManyLinksMayBeEither) {
  const Nvlink two = make_machine(labels(2, "NV18")).nvlink;
  EXPECT_FALSE(two.via_switch.has_value());
  EXPECT_FALSE(two.links_per_gpu.has_value());
  EXPECT_FALSE(two.via_switch.reason.empty());
  EXPECT_EQ(two.pairs.value->size(), 1u);
  EXPECT_EQ(make_machine(labels(2, "NV4")).nvlink.via_switch.value, false);
}

TEST(NvlinkOfLabels, LinksToCpusAreNotInTheMatrix) {
  Dump dump = labels(2, "NV3");
  dump.topo->content.numa_affinity = {"0", "8"};
  EXPECT_FALSE(make_machine(dump).nvlink.links_per_gpu.has_value());
  // Nodes without GPUs are no sign of POWER.
  dump.topo->content.numa_affinity = {"1", "3"};
  EXPECT_EQ(make_machine(dump).nvlink.links_per_gpu.value, (std::vector<int>{3, 3}));
}

TEST(NvlinkOfLabels, OneGpuSaysNothing) {
  const Nvlink one = make_machine(labels(1, "X")).nvlink;
  EXPECT_FALSE(one.links_per_gpu.has_value());
  EXPECT_FALSE(one.via_switch.has_value());
}

TEST(LinkVerdict, NumbersDecide) {
  Machine machine;
  MachineGpu gpu;
  gpu.model = "A";
  gpu.gen_cur = gpu.gen_max = 4;
  gpu.width_cur = gpu.width_max = 16;
  machine.gpus = {gpu, gpu, gpu};
  EXPECT_EQ(link_verdict(machine, 0), "ok");
  machine.gpus[0].gen_cur = 1;
  EXPECT_EQ(link_verdict(machine, 0), "idle Gen1 is not a fault");
  machine.gpus[0].gen_cur = machine.gpus[0].gen_max = 3;
  EXPECT_EQ(link_verdict(machine, 0), "slow: the system side limits it to Gen3");
  machine.gpus[0].model = "another product";
  EXPECT_EQ(link_verdict(machine, 0), "ok");
  machine.gpus[0].width_cur = 8;
  EXPECT_EQ(link_verdict(machine, 0), "narrow (x8 of x16)");
  machine.gpus[0].width_cur = Measured<int>::missing("a guest");
  EXPECT_EQ(link_verdict(machine, 0), "unknown: a guest");
  machine.gpus[1].width_max = Measured<int>::missing("not told");
  EXPECT_THAT(link_verdict(machine, 1), testing::StartsWith("unknown"));
}

TEST(Findings, CappedPowerAndRedirectsAndBlockedPeers) {
  Dump dump = labels(2, "PIX");
  SmiGpu gpu;
  gpu.bus_id = "00000000:01:00.0";
  gpu.power_limit = "275.00 W";
  gpu.power_limit_default = "300.00 W";
  dump.reports.push_back({"q", {}});
  dump.reports.back().content.gpus = {gpu, {}};
  dump.reports.back().content.gpus[1].bus_id = "00000000:02:00.0";
  dump.access_control = FromFile<AccessControl>{"acs", {4, {{"ReqRedir", 2}, {"SrcValid", 4}}}};
  TopoMatrix status = dump.topo->content;
  status.is_peer_status = true;
  status.cells = {{"X", "CNS"}, {"CNS", "X"}};
  dump.peer_status.push_back({"p2p", status});
  std::vector<std::string> found;
  for (const Finding& finding : make_machine(dump).findings) found.push_back(finding.id);
  EXPECT_THAT(found, ElementsAre("gpu_power_capped", "acs_redirects", "peer_access_blocked"));
}

constexpr const char* kTwoGpus =
    "l sys/bus/pci/devices/0000:00:06.0 -> ../../../devices/pci0000:00/0000:00:06.0\n"
    "f sys/devices/pci0000:00/0000:00:06.0/class: 0x030200\n"
    "f sys/devices/pci0000:00/0000:00:06.0/vendor: 0x10de\n"
    "l sys/bus/pci/devices/0000:00:07.0 -> ../../../devices/pci0000:00/0000:00:07.0\n"
    "f sys/devices/pci0000:00/0000:00:07.0/class: 0x030200\n"
    "f sys/devices/pci0000:00/0000:00:07.0/vendor: 0x10de\n";

Machine this_host(const test::FakeRoot& root, const test::FakeNvml& fake) {
  DetectOptions options;
  options.root = root.path();
  options.nvml = fake.open();
  options.environment = Environment();
  return make_machine(read_this_host(Root(root.path()), detect(options), options.nvml.get()));
}

TEST(ThisHost, NvlinkFromTheDriver) {
  test::FakeRoot root;
  root.expand(kTwoGpus);
  const test::FakeNvml fake(R"({"driver": "580.1", "devices": [
    {"uuid": "GPU-a", "pci": "00000000:00:06.0", "nvlinks": ["switch", "switch"], "pcie_width": 16},
    {"uuid": "GPU-b", "pci": "00000000:00:07.0", "nvlinks": ["switch", "switch"]}]})");
  const Machine machine = this_host(root, fake);
  EXPECT_EQ(machine.gpu_count.value, 2);
  EXPECT_EQ(machine.nvlink.via_switch.value, true);
  EXPECT_THAT(*machine.nvlink.pairs, ElementsAre(std::array<int, 3>{0, 1, 2}));
  EXPECT_EQ((*machine.pcie)[0][1], "PHB");
  EXPECT_EQ((*machine.topo)[0][1], "NV2");
  EXPECT_EQ(machine.gpus[0].width_cur.value, 16);
  EXPECT_THAT(machine.findings, IsEmpty());
}

TEST(ThisHost, OnlyTheGpusThatTheDriverGivesCount) {
  test::FakeRoot root;
  root.expand(kTwoGpus);
  const test::FakeNvml fake(
      R"({"driver": "580.1", "devices": [{"uuid": "GPU-a", "pci": "00000000:00:06.0"}]})");
  const Machine machine = this_host(root, fake);
  EXPECT_EQ(machine.gpu_count.value, 1);
  EXPECT_FALSE(machine.nvlink.links_per_gpu.has_value());
  EXPECT_THAT(machine.findings, IsEmpty());
}

TEST(ThisHost, MountsOfADriveAlsoThroughLvm) {
  test::FakeRoot root;
  root.expand(
      "f sys/devices/pci0000:00/0000:01:00.0/class: 0x010802\n"
      "l sys/bus/pci/devices/0000:01:00.0 -> ../../../devices/pci0000:00/0000:01:00.0\n"
      "f sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1/dev: 259:0\n"
      "f sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1/nvme0n1p1/partition: 1\n"
      "l sys/class/nvme/nvme0 -> ../../devices/pci0000:00/0000:01:00.0/nvme/nvme0\n"
      "l sys/block/nvme0n1 -> ../devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1\n"
      "f sys/devices/virtual/block/dm-0/dev: 253:0\n"
      "l sys/devices/virtual/block/dm-0/slaves/nvme0n1p1 -> "
      "../../../../pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1/nvme0n1p1\n"
      "l sys/dev/block/253:0 -> ../../devices/virtual/block/dm-0\n"
      "f proc/self/mountinfo: 30 1 253:0 / /data rw - ext4 /dev/dm-0 rw\n"
      "+ 31 1 0:40 / /merged rw - overlay overlay rw\n");
  const std::vector<DriveMounts> drives = read_nvme_drives(Root(root.path()));
  ASSERT_EQ(drives.size(), 1u);
  EXPECT_EQ(drives[0].address, "0000:01:00.0");
  EXPECT_THAT(drives[0].disks, ElementsAre("nvme0n1"));
  EXPECT_THAT(*drives[0].mounts, ElementsAre("/data"));
  EXPECT_THAT(mounts_without_device(Root(root.path())), ElementsAre("/merged (overlay)"));
}

}  // namespace
}  // namespace falcon::platform
