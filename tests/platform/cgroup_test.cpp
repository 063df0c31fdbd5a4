#include "platform/cgroup.h"

#include <gtest/gtest.h>

#include "platform/detect.h"
#include "support/fake_host.h"

namespace falcon::platform {
namespace {

constexpr const char* kVersion2Mount =
    "f proc/self/mountinfo: 30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

CgroupLimits limits(const std::string& manifest) {
  test::FakeRoot root;
  root.expand(manifest);
  return cgroup_limits(Root(root.path()));
}

TEST(Cgroup2, QuotaAndMemoryOfAContainerThatSeesItsOwnTop) {
  const CgroupLimits got = limits(std::string(kVersion2Mount) +
                                  "f proc/self/cgroup: 0::/\n"
                                  "f sys/fs/cgroup/cgroup.controllers: cpu memory\n"
                                  "f sys/fs/cgroup/cpu.max: 765000 100000\n"
                                  "f sys/fs/cgroup/cpu.stat: throttled_usec 12\n"
                                  "f sys/fs/cgroup/memory.max: 2147483648\n");
  EXPECT_DOUBLE_EQ(*got.quota_cpus, 7.65);
  EXPECT_EQ(*got.memory_bytes, 2147483648);
  EXPECT_EQ(got.cpu_stat, "sys/fs/cgroup/cpu.stat");
}

TEST(Cgroup2, TheSmallestOfNestedLimitsCounts) {
  const CgroupLimits got = limits(std::string(kVersion2Mount) +
                                  "f proc/self/cgroup: 0::/batch.slice/job_7/step\n"
                                  "f sys/fs/cgroup/cgroup.controllers: cpu memory\n"
                                  "f sys/fs/cgroup/batch.slice/cpu.max: 400000 100000\n"
                                  "f sys/fs/cgroup/batch.slice/memory.max: 8000000000\n"
                                  "f sys/fs/cgroup/batch.slice/job_7/cpu.max: 150000 50000\n"
                                  "f sys/fs/cgroup/batch.slice/job_7/memory.max: 9000000000\n"
                                  "f sys/fs/cgroup/batch.slice/job_7/step/cpu.max: max 100000\n"
                                  "f sys/fs/cgroup/batch.slice/job_7/step/memory.max: max\n"
                                  "f sys/fs/cgroup/other.slice/cpu.max: 1000 100000\n");
  EXPECT_DOUBLE_EQ(*got.quota_cpus, 3);
  EXPECT_EQ(*got.memory_bytes, 8000000000);
}

TEST(Cgroup2, NoLimitIsToldApartFromUnknown) {
  const CgroupLimits none = limits(std::string(kVersion2Mount) +
                                   "f proc/self/cgroup: 0::/user.slice\n"
                                   "f sys/fs/cgroup/cgroup.controllers: cpu memory\n"
                                   "f sys/fs/cgroup/user.slice/cpu.max: max 100000\n"
                                   "f sys/fs/cgroup/user.slice/memory.max: max\n");
  EXPECT_EQ(none.quota_cpus.reason, "no quota");
  EXPECT_EQ(none.memory_bytes.reason, "no limit");
  const CgroupLimits unknown = limits("f proc/self/cgroup: 0::/\n");
  EXPECT_EQ(unknown.quota_cpus.reason, "unknown: no control group files below /sys/fs/cgroup");
  const CgroupLimits nothing = limits("# an empty machine\n");
  EXPECT_EQ(nothing.quota_cpus.reason, "unknown: /proc/self/cgroup: No such file or directory");
  EXPECT_TRUE(nothing.cpu_stat.empty());
}

TEST(Cgroup1, ControllersHaveTheirOwnMounts) {
  const CgroupLimits got = limits(
      "f proc/self/cgroup: 4:memory:/docker/abc\n"
      "+ 3:cpuset:/docker/abc\n"
      "+ 2:cpu,cpuacct:/docker/abc\n"
      "f proc/self/mountinfo: 33 32 0:29 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup "
      "rw,cpu,cpuacct\n"
      "+ 34 32 0:30 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
      "f sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us: 200000\n"
      "f sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us: 100000\n"
      "f sys/fs/cgroup/cpu,cpuacct/cpu.stat: throttled_time 5\n"
      "f sys/fs/cgroup/memory/memory.limit_in_bytes: 1073741824\n");
  EXPECT_DOUBLE_EQ(*got.quota_cpus, 2);
  EXPECT_EQ(*got.memory_bytes, 1073741824);
  EXPECT_EQ(got.cpu_stat, "sys/fs/cgroup/cpu,cpuacct/cpu.stat");
}

TEST(Cgroup1, MinusOneAndTheLargestNumberAreNoLimits) {
  const CgroupLimits got = limits(
      "f proc/self/cgroup: 4:memory:/job\n"
      "+ 2:cpu:/job\n"
      "f sys/fs/cgroup/cpu/job/cpu.cfs_quota_us: -1\n"
      "f sys/fs/cgroup/cpu/job/cpu.cfs_period_us: 100000\n"
      "f sys/fs/cgroup/memory/job/memory.limit_in_bytes: 9223372036854771712\n");
  EXPECT_EQ(got.quota_cpus.reason, "no quota");
  EXPECT_EQ(got.memory_bytes.reason, "no limit");
}

TEST(Cgroup, BothVersionsAtOnce) {
  const CgroupLimits got = limits(
      "f proc/self/cgroup: 2:cpu:/\n"
      "+ 0::/\n"
      "f proc/self/mountinfo: 32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
      "+ 41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
      "f sys/fs/cgroup/cpu/cpu.cfs_quota_us: 50000\n"
      "f sys/fs/cgroup/cpu/cpu.cfs_period_us: 100000\n"
      "f sys/fs/cgroup/unified/cgroup.controllers:\n");
  EXPECT_DOUBLE_EQ(*got.quota_cpus, 0.5);
}

TEST(UsableCpus, TheSmallerOfMaskAndQuotaRoundedDownAndAtLeastOne) {
  const auto usable = [](const std::string& quota, const std::vector<int>& affinity) {
    test::FakeRoot root;
    root.expand(std::string(kVersion2Mount) +
                "f proc/self/cgroup: 0::/\n"
                "f sys/devices/system/cpu/online: 0-95\n"
                "f sys/fs/cgroup/cpu.max: " +
                quota + "\n");
    return detect({.root = root.path(), .nvml = {}, .affinity = affinity, .environment = {{}}})
        .cpu.usable;
  };
  EXPECT_EQ(usable("765000 100000", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), 7);
  EXPECT_EQ(usable("765000 100000", {3, 4}), 2);
  EXPECT_EQ(usable("50000 100000", {0, 1}), 1);
  EXPECT_EQ(usable("max 100000", {0, 1, 2}), 3);
}

}  // namespace
}  // namespace falcon::platform
