#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/dump/read_host_texts.h"
#include "platform/dump/read_nvml_probe.h"

namespace falcon::platform {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Numactl, NodesWithTheirCpusAndMemory) {
  const auto nodes = read_numactl(
      "available: 2 nodes (0,8)\nnode 0 cpus: 0 1 2\nnode 0 size: 1024 MB\nnode 8 cpus:\nnode 8 "
      "size: 10 MB\n");
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_THAT(nodes[0].cpus, ElementsAre(0, 1, 2));
  EXPECT_EQ(nodes[0].memory_bytes, std::int64_t{1} << 30);
  EXPECT_EQ(nodes[1].id, 8);
  EXPECT_THAT(nodes[1].cpus, IsEmpty());  // memory alone
}

TEST(Lscpu, HypervisorAndNodes) {
  const CpuListing listing = read_lscpu(
      "Architecture:            x86_64\nCPU(s):   4\nHypervisor vendor:  KVM\nNUMA node0 CPU(s):   "
      "0-3\n");
  EXPECT_EQ(listing.hypervisor, "KVM");
  EXPECT_THAT(listing.nodes, ElementsAre(testing::Pair(0, "0-3")));
}

TEST(DriverFiles, VersionOfOpenAndClosedModules) {
  EXPECT_EQ(
      read_driver_files("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  "
                        "Release Build  (a@b)\n")
          .driver,
      "580.159.04");
  const DriverFiles files = read_driver_files("Model:  NVIDIA H200\nBus Location:  0000:00:06.0\n");
  EXPECT_THAT(files.gpus, ElementsAre(testing::Pair("0000:00:06.0", "NVIDIA H200")));
}

TEST(Dmon, GpusOfAllRows) {
  EXPECT_THAT(read_dmon("# gpu pwr\n# Idx W\n    1 80\n    0 76\n    1 81\n"), ElementsAre(0, 1));
}

TEST(PeerTest, MediansOfPairsOfDifferentGpus) {
  const PeerTest test = read_peer_test(
      "[P2P (Peer-to-Peer) GPU Bandwidth Latency Test]\n"
      "Device: 0, A, pciBusID: 1\nDevice: 1, A, pciBusID: 2\n"
      "Device=0 CAN Access Peer Device=1\nDevice=1 CANNOT Access Peer Device=0\n"
      "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n   D\\D     0      1\n     0 800.00  "
      "22.0\n     1  "
      "24.0 800.00\n"
      "P2P=Enabled Latency (P2P Writes) Matrix (us)\n   GPU     0      1\n     0   1.3   1.2\n     "
      "1   1.5   "
      "1.3\n\n   CPU     0      1\n     0   9.0   9.0\n");
  EXPECT_EQ(test.pairs, 2);
  EXPECT_EQ(test.can_access, 1);
  EXPECT_DOUBLE_EQ(test.one_way_off.value(), 23.0);
  EXPECT_FALSE(test.one_way_on.has_value());
  EXPECT_EQ(test.latency_on_us, std::pair(1.2, 1.5));
}

constexpr const char* kProbe =
    "# field scope call_rc field_rc value_type value latency_us_reported latency_us_seen\n"
    "138 0 0 3 3 0 0 28\n"
    "147 0 0 0 0 0 0 26\n"
    "197 0 0 0 1 1232441696 492 499\n"
    "200 0 3 0 1 5 0 1\n"
    "# 40 host-to-device copies of 1 GiB (42949672960 bytes) at 53.7 GB/s: field 197 (TX) changed "
    "by -268146040, "
    "field 198 (RX) by +3355478652\n"
    "# 585 reads of field 83 in 2 s gave 20 different values, steps 11.7 to 11.9 J\n";

TEST(NvmlProbe, BothReturnCodesCountAndZeroIsAValue) {
  ASSERT_TRUE(is_nvml_probe(kProbe));
  const NvmlProbe probe = read_nvml_probe(kProbe);
  EXPECT_THAT(probe.supported, ElementsAre(147, 197));
  EXPECT_THAT(probe.not_supported, ElementsAre(138, 200));
  EXPECT_EQ(probe.pcie_counter_bits, 32);
}

TEST(NvmlProbe, CountersThatWrappedAreMadeWhole) {
  const NvmlProbe probe = read_nvml_probe(kProbe);
  EXPECT_EQ(probe.rx_bytes, 46305151612);
  EXPECT_EQ(probe.tx_bytes, 4026821256);
  EXPECT_DOUBLE_EQ(probe.energy_update_period_s.value(), 0.1);
  EXPECT_FALSE(read_nvml_probe("# field scope call_rc field_rc\n").rx_bytes.has_value());
}

}  // namespace
}  // namespace falcon::platform
