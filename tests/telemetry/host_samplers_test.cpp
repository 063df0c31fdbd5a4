#include <cmath>

#include <gtest/gtest.h>
#include <unistd.h>

#include "fake_machine.h"
#include "platform/block_device.h"
#include "telemetry/disk_sampler.h"

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

/// What the report says of a host with these files of a control group, version 1.
std::vector<std::string> gaps_with(const std::vector<std::pair<std::string, std::string>>& files) {
  test::FakeRoot root;
  root.file("proc/stat", "cpu  20 5 10 30 20 3 2 10 20 5\nprocs_running 1\n");
  root.file("proc/loadavg", "0.5 0.5 0.5 1/100 1\n");
  root.file("proc/self/cgroup", "1:cpu:/\n");
  for (const auto& [name, text] : files) root.file("sys/fs/cgroup/cpu/" + name, text);
  SamplerContext context;
  context.root = root.path();
  Session session(make_samplers(context, {{"cpu"}}), {});
  session.tick();
  for (const SourceTelemetry& source : session.result().utilization.sources) {
    if (source.sampler == "cpu") return source.unsupported;
  }
  return {"no such source"};
}

TEST(CpuSampler, WithoutAQuotaThereIsNoThrottledTimeToMiss) {
  const std::string stat = "nr_periods 0\nnr_throttled 0\n";
  EXPECT_EQ(gaps_with({{"cpu.stat", stat}}), std::vector<std::string>());
  EXPECT_EQ(gaps_with({{"cpu.stat", stat}, {"cpu.cfs_quota_us", "-1"}}),
            std::vector<std::string>());
  const std::vector<std::string> limited = gaps_with(
      {{"cpu.stat", stat}, {"cpu.cfs_quota_us", "200000"}, {"cpu.cfs_period_us", "100000"}});
  EXPECT_EQ(limited, std::vector<std::string>{"cpu_throttled_s: /sys/fs/cgroup/cpu/cpu.stat tells "
                                              "no throttled time"});
  const std::vector<std::string> unknown = gaps_with({});
  EXPECT_EQ(unknown,
            std::vector<std::string>{"cpu_throttled_s: no control group files are visible"})
      << "there may be a quota";
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

TEST(CpuSampler, RunQueueAndLoadAverage) {
  const HostTelemetry host = FakeMachine::measure({0.25, 1}).utilization.host;
  EXPECT_NEAR(host.run_queue.value->mean, 3.5, 1e-9);
  EXPECT_NEAR(host.run_queue.value->max, 5, 1e-9);
  EXPECT_NEAR(host.load_average.value->mean, 1.25, 1e-9);
}

TEST(NetworkSampler, BytesPacketsErrorsAndDropsOfEachInterface) {
  const HostTelemetry host = FakeMachine::measure({0.5, 1}).utilization.host;
  ASSERT_EQ(host.network.value->size(), 1U);
  const NetworkTelemetry& interface = host.network.value->at(0);
  EXPECT_EQ(interface.name, "eth0");
  EXPECT_NEAR(interface.rx_bytes_per_s.value->mean, 0.75 * 4000, 1e-6);
  EXPECT_NEAR(interface.tx_bytes_per_s.value->mean, 0.75 * 600, 1e-6);
  EXPECT_NEAR(interface.rx_packets_per_s.value->mean, 0.75 * 40, 1e-6);
  EXPECT_NEAR(interface.tx_packets_per_s.value->mean, 0.75 * 6, 1e-6);
  EXPECT_NEAR(interface.errors_per_s.value->mean, 0.75 * (2 + 2), 1e-6);
  EXPECT_DOUBLE_EQ(interface.drops_per_s.value->mean, 0);
}

TEST(NetworkSampler, NamesAndNumbersMayStandTogether) {
  test::FakeRoot root;
  root.file("proc/net/dev", "a heading\n  lo:123 1 0 0 0 0 0 0 456 2 0 0 0 0 0 0\n br-1: x\n");
  SamplerContext context;
  context.root = root.path();
  double now_s = 0;
  Session session(make_samplers(context, {{"network"}}), {.clock = [&] { return now_s; }});
  session.tick();
  session.begin_window(0);
  now_s = 1;
  session.tick();
  session.end_window(1);
  const auto network = session.result().utilization.host.network;
  ASSERT_EQ(network.value->size(), 1U);
  EXPECT_EQ(network.value->at(0).name, "lo");
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

// LVM on an md of a whole disk and a partition.
TEST(BlockDevice, WhatAMappingIsMadeOfDownToTheDisks) {
  test::FakeRoot fake;
  fake.expand(
      "f sys/devices/pci0/nvme/nvme1/nvme1n1/nvme1n1p3/partition: 3\n"
      "f sys/devices/pci0/nvme/nvme2/nvme2n1/size: 9\n"
      "f sys/devices/virtual/block/md0/size: 9\n"
      "f sys/devices/virtual/block/dm-0/size: 9\n"
      "l sys/block/md0 -> ../devices/virtual/block/md0\n"
      "l sys/block/dm-0 -> ../devices/virtual/block/dm-0\n"
      "l sys/devices/virtual/block/dm-0/slaves/md0 -> ../../md0\n"
      "l sys/devices/virtual/block/md0/slaves/nvme2n1 -> ../../../../pci0/nvme/nvme2/nvme2n1\n"
      "l sys/devices/virtual/block/md0/slaves/nvme1n1p3 -> "
      "../../../../pci0/nvme/nvme1/nvme1n1/nvme1n1p3\n");
  const platform::Root root(fake.path());
  EXPECT_EQ(platform::disks_below(root, "dm-0"),
            (std::vector<std::string>{"md0", "nvme1n1", "nvme2n1"}));
  EXPECT_TRUE(platform::disks_below(root, "nvme2n1").empty());
}

TEST(DiskSampler, TheDisksUnderTheDataSetsDeviceHoldDataToo) {
  test::FakeRoot fake;
  fake.expand(
      "f sys/devices/virtual/block/dm-0/size: 9\n"
      "f sys/devices/pci0/vda/device/vendor: x\n"
      "f sys/devices/pci0/vdb/device/vendor: x\n"
      "l sys/block/dm-0 -> ../devices/virtual/block/dm-0\n"
      "l sys/block/vda -> ../devices/pci0/vda\n"
      "l sys/block/vdb -> ../devices/pci0/vdb\n"
      "l sys/devices/virtual/block/dm-0/slaves/vdb -> ../../../../pci0/vdb\n"
      "l sys/dev/block/252:0 -> ../../devices/virtual/block/dm-0\n"
      "f proc/diskstats: 254 0 vda 1 0 1 1 1 0 1 1 0 1 1\n"
      "+ 254 16 vdb 1 0 1 1 1 0 1 1 0 1 1\n"
      "+ 252 0 dm-0 1 0 1 1 1 0 1 1 0 1 1\n");
  DiskSampler sampler("disk", platform::Root(fake.path()), std::string("252:0"), "");
  Telemetry out;
  const MetricResult some{Summary{}, 0.0};
  sampler.place(std::vector<MetricResult>(sampler.metrics().size(), some), out);
  std::map<std::string, bool> holds;
  for (const DiskTelemetry& disk : *out.utilization.host.disks.value) {
    holds[disk.name] = disk.holds_data;
  }
  EXPECT_EQ(holds, (std::map<std::string, bool>{{"dm-0", true}, {"vda", false}, {"vdb", true}}));
  EXPECT_EQ(*out.utilization.host.data_disk, "dm-0");
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
