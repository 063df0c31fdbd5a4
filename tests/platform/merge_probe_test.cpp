#include "platform/merge_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/codec.h"
#include "platform/visible_devices.h"

namespace falcon::platform {
namespace {

using testing::ElementsAre;

Host two_gpus() {
  Host host;
  host.gpus.resize(2);
  host.gpus[0].uuid = "GPU-AA";
  host.gpus[0].pci_address = "0000:06:00.0";
  host.gpus[1].pci_address = "0000:07:00.0";
  return host;
}

ProbeDevice device(int ordinal, const std::string& uuid, const std::string& address) {
  return {ordinal, uuid, address, "A GPU", "9.0", 1000};
}

TEST(MergeProbe, JoinsByUuidThenByAddressNeverByIndex) {
  Host host = two_gpus();
  ProbeFacts probe;
  probe.devices = {device(0, "GPU-cc", "00000000:07:00.0"), device(1, "aa", "")};
  probe.libraries["NCCL"] = {"2.28.9", std::string("2.28.9"), "/lib/libnccl.so.2"};
  merge_probe(host, base::from_value<ProbeFacts>(base::to_value(probe)));
  EXPECT_EQ(*host.gpus[0].cuda_ordinal, 1);
  EXPECT_EQ(*host.gpus[1].cuda_ordinal, 0);
  EXPECT_EQ(*host.gpus[1].compute_capability, "9.0");
  EXPECT_EQ(*host.gpus[1].memory_bytes, 1000);
  EXPECT_EQ(host.libraries.at("NCCL").path, "/lib/libnccl.so.2");
  EXPECT_TRUE(host.notes.empty());
}

TEST(MergeProbe, PeersByTheirAddresses) {
  Host host = two_gpus();
  ProbeFacts probe;
  probe.devices = {device(0, "GPU-AA", "00000000:06:00.0"), device(1, "", "00000000:07:00.0")};
  probe.devices[1].peers = {0};
  merge_probe(host, probe);
  EXPECT_THAT(*host.gpus[0].peers, testing::IsEmpty());
  EXPECT_THAT(*host.gpus[1].peers, ElementsAre("0000:06:00.0"));
}

TEST(MergeProbe, GpusThatCudaDoesNotShow) {
  Host host = two_gpus();
  ProbeFacts probe;
  probe.devices = {device(0, "GPU-AA", "")};
  merge_probe(host, probe);
  ASSERT_EQ(host.gpus.size(), 2U);
  EXPECT_EQ(host.gpus[1].cuda_ordinal.reason, "CUDA does not show this GPU");
  EXPECT_EQ(host.gpus[1].peers.reason, "CUDA does not show this GPU");
}

TEST(MergeProbe, SettlesWhatVisibleDevicesMeans) {
  Host host = two_gpus();
  host.environment["CUDA_VISIBLE_DEVICES"] = "1";
  hide_invisible_gpus(host, host.environment);
  EXPECT_THAT(host.notes, ElementsAre(undecided_note(host.environment)));
  EXPECT_TRUE(needs_cuda(host));
  ProbeFacts probe;
  probe.devices = {device(0, "GPU-AA", "")};
  merge_probe(host, probe);
  EXPECT_FALSE(needs_cuda(host));
  ASSERT_EQ(host.gpus.size(), 1U);
  EXPECT_EQ(host.gpus[0].uuid, "GPU-AA");
  EXPECT_THAT(host.notes, ElementsAre("CUDA_VISIBLE_DEVICES=1 hides 1 of 2 GPUs"));
}

TEST(MergeProbe, AFailedProbeChangesOnlyReasons) {
  Host host = two_gpus();
  host.environment["CUDA_VISIBLE_DEVICES"] = "1";
  ProbeFacts probe;
  probe.error = "driver too old";
  merge_probe(host, probe);
  EXPECT_EQ(host.gpus.size(), 2U);
  EXPECT_EQ(host.gpus[0].cuda_ordinal.reason, "CUDA: driver too old");
}

TEST(MergeProbe, AGpuThatOnlyCudaShowsIsAddedInBusOrder) {
  Host host = two_gpus();
  ProbeFacts probe;
  probe.devices = {device(0, "GPU-AA", ""), device(1, "", "0000:07:00.0"),
                   device(2, "GPU-new", "0000:01:00.0")};
  merge_probe(host, probe);
  ASSERT_EQ(host.gpus.size(), 3U);
  EXPECT_EQ(host.gpus[0].uuid, "GPU-new");
  EXPECT_EQ(host.gpus[0].power_limit_w.reason, "NVML does not show this GPU");
  EXPECT_THAT(host.notes, ElementsAre("only CUDA shows the GPU A GPU (GPU-new)"));
}

}  // namespace
}  // namespace falcon::platform
