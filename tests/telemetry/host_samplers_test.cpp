#include <cmath>

#include <gtest/gtest.h>
#include <unistd.h>

#include "fake_machine.h"
#include "platform/block_device.h"

namespace falcon::telemetry {
namespace {

TEST(CpuSampler, BusyShareOfAllAndOfEachCpu) {
  const HostTelemetry host = FakeMachine::measure({0.2, 0.6}).utilization.host;
  EXPECT_NEAR(host.cpu_pct.value->mean, 75 * 0.4, 1e-9);
  EXPECT_NEAR(host.cpu_pct.value->min, 75 * 0.2, 1e-9);
  EXPECT_NEAR(host.cpu_pct.value->max, 75 * 0.6, 1e-9);
  ASSERT_EQ(host.cpu_cores.value->size(), 2U);
  EXPECT_EQ(host.cpu_cores.value->at(1).cpu, 1);
  EXPECT_NEAR(host.cpu_cores.value->at(0).busy_pct.value->mean, 40, 1e-9);
  EXPECT_NEAR(host.cpu_cores.value->at(1).busy_pct.value->mean, 20, 1e-9);
  EXPECT_NEAR(*host.cpu_throttled_s, 0.08, 1e-9);
  EXPECT_DOUBLE_EQ(host.cpu_steal_pct.value->mean, 0);
}

TEST(CpuSampler, GuestTimeIsNotCountedTwiceAndIowaitIsIdle) {
  test::FakeRoot root;
  root.file("proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\n");
  SamplerContext context;
  context.root = root.path();
  double now_s = 0;
  Session session(make_samplers(context, {{"cpu"}}), {.clock = [&] { return now_s; }});
  session.tick();
  session.begin_window(0);
  now_s = 1;
  // user nice system idle iowait irq softirq steal guest guest_nice
  root.file("proc/stat", "cpu  20 5 10 30 20 3 2 10 20 5\n");
  session.tick();
  session.end_window(1);
  const HostTelemetry host = session.result().utilization.host;
  EXPECT_NEAR(host.cpu_pct.value->mean, 40, 1e-9);
  EXPECT_NEAR(host.cpu_iowait_pct.value->mean, 20, 1e-9);
  EXPECT_NEAR(host.cpu_steal_pct.value->mean, 10, 1e-9);
}

TEST(MemorySampler, UsedIsWhatIsNotAvailable) {
  const HostTelemetry host = FakeMachine::measure({0.5, 1}).utilization.host;
  EXPECT_NEAR(host.memory_used_bytes.value->mean, 1024 * (100000 + 375000), 1);
  EXPECT_NEAR(host.memory_available_bytes.value->min, 1024 * 400000, 1);
  EXPECT_NEAR(host.page_faults_per_s.value->mean, 750, 1e-9);
  EXPECT_NEAR(host.major_page_faults_per_s.value->mean, 7.5, 1e-9);
}

TEST(DiskSampler, RatesLatencyAndQueueOfPhysicalDisks) {
  const HostTelemetry host = FakeMachine::measure({0.5, 1}).utilization.host;
  ASSERT_EQ(host.disks.value->size(), 1U);  // not the loop device
  const DiskTelemetry& disk = host.disks.value->at(0);
  EXPECT_EQ(disk.name, "vda");
  EXPECT_FALSE(disk.holds_data);
  EXPECT_NEAR(disk.read_bytes_per_s.value->mean, 0.75 * 2000 * 512, 1e-6);
  EXPECT_NEAR(disk.write_bytes_per_s.value->max, 400 * 512, 1e-6);
  EXPECT_NEAR(disk.read_iops.value->mean, 75, 1e-9);
  EXPECT_NEAR(disk.write_iops.value->mean, 37.5, 1e-9);
  EXPECT_NEAR(disk.read_latency_ms.value->mean, 3, 1e-9);
  EXPECT_NEAR(disk.write_latency_ms.value->mean, 2, 1e-9);
  EXPECT_NEAR(disk.queue_depth.value->mean, 0.3, 1e-9);
  EXPECT_NEAR(disk.busy_pct.value->mean, 18.75, 1e-9);
  EXPECT_EQ(host.data_disk.reason, "no data folder: synthetic data");
}

TEST(DiskSampler, ADiskAtRestHasNoLatency) {
  const HostTelemetry host = FakeMachine::measure({0, 0}).utilization.host;
  EXPECT_EQ(host.disks.value->at(0).read_latency_ms.reason, "no read in the window");
  EXPECT_DOUBLE_EQ(host.disks.value->at(0).read_iops.value->mean, 0);
}

TEST(BlockDevice, APartitionBelongsToItsDisk) {
  test::FakeRoot fake;
  fake.file("sys/devices/pci0/nvme/nvme0/nvme0n1/nvme0n1p2/partition", "2\n");
  fake.file("sys/devices/virtual/block/dm-0/size", "2\n");
  fake.link("sys/dev/block/259:2", "../../devices/pci0/nvme/nvme0/nvme0n1/nvme0n1p2");
  fake.link("sys/dev/block/259:0", "../../devices/pci0/nvme/nvme0/nvme0n1");
  fake.link("sys/dev/block/252:0", "../../devices/virtual/block/dm-0");
  const platform::Root root(fake.path());
  EXPECT_EQ(*platform::disk_of(root, "259:2"), "nvme0n1");
  EXPECT_EQ(*platform::disk_of(root, "259:0"), "nvme0n1");
  EXPECT_EQ(*platform::disk_of(root, "252:0"), "dm-0");
  EXPECT_EQ(platform::disk_of(root, "8:1").reason, "/sys/dev/block/8:1 is not there");
}

TEST(BlockDevice, FoldersWithoutADiskSayWhy) {
  EXPECT_EQ(platform::device_number_of("/nowhere/at/all").reason, "/nowhere/at/all is not there");
  EXPECT_EQ(platform::device_number_of("/proc").reason,
            "/proc lies on a file system without a block device of its own");
}

TEST(Samplers, AChangedSourceChangesTheNumbers) {
  const HostTelemetry slow = FakeMachine::measure({0.1, 0.1}).utilization.host;
  const HostTelemetry fast = FakeMachine::measure({0.9, 0.9}).utilization.host;
  EXPECT_NEAR(fast.cpu_pct.value->mean / slow.cpu_pct.value->mean, 9, 1e-6);
  EXPECT_NEAR(fast.page_faults_per_s.value->mean / slow.page_faults_per_s.value->mean, 9, 1e-6);
  EXPECT_NEAR(
      fast.disks.value->at(0).read_iops.value->mean / slow.disks.value->at(0).read_iops.value->mean,
      9, 1e-6);
  EXPECT_GT(fast.memory_used_bytes.value->mean, slow.memory_used_bytes.value->mean);
  EXPECT_NEAR(*fast.processes_cpu_s / *slow.processes_cpu_s, 9, 1e-6);
}

}  // namespace
}  // namespace falcon::telemetry
