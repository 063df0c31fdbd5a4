#include "platform/detect.h"

#include <numeric>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/codec.h"
#include "platform/cpus.h"
#include "support/fake_host.h"

namespace falcon::platform {
namespace {

using testing::HasSubstr;

Host detect_in(const test::FakeRoot& root, Environment environment = {}) {
  return detect({.root = root.path(), .nvml = {}, .affinity = {}, .environment = environment});
}

TEST(Detect, AServerWithTwoSocketsAndNoNvidiaGpu) {
  test::FakeRoot root;
  root.expand_machine("nogpu-server-2socket");
  const Host host = detect_in(root);
  EXPECT_EQ(host.cpu.logical, 24);
  EXPECT_EQ(host.cpu.usable, 24);
  ASSERT_EQ(host.numa_nodes.size(), 2U);
  EXPECT_EQ(host.numa_nodes[1].id, 1);
  EXPECT_EQ(host.numa_nodes[1].cpus.size(), 12U);
  EXPECT_EQ(host.numa_nodes[1].cpus[0], 1);
  EXPECT_FALSE(host.numa_nodes[0].memory_bytes.has_value());
  EXPECT_TRUE(host.gpus.empty());
  EXPECT_FALSE(host.cpu.sockets.has_value());
  EXPECT_FALSE(host.cpu.model.has_value());
  EXPECT_FALSE(host.memory_bytes.has_value());
}

TEST(Detect, BoardsWithoutADriverAreNamed) {
  test::FakeRoot root;
  root.expand_machine("h200-2gpu-vm");
  const auto absent = std::make_shared<const Nvml>(root.path() + "/libnvidia-ml.so.1");
  const Host host =
      detect({.root = root.path(), .nvml = absent, .affinity = {}, .environment = Environment()});
  EXPECT_TRUE(host.gpus.empty());
  EXPECT_THAT(host.driver.reason, HasSubstr("no NVIDIA driver"));
  EXPECT_THAT(host.driver.reason, HasSubstr("plugged in at 0000:00:06.0, 0000:00:07.0"));
  test::FakeRoot matrox;
  matrox.expand_machine("nogpu-server-2socket");
  const Host other =
      detect({.root = matrox.path(), .nvml = absent, .affinity = {}, .environment = Environment()});
  EXPECT_THAT(other.driver.reason, testing::Not(HasSubstr("plugged in")));
}

TEST(Detect, ReadsProcAndSys) {
  test::FakeRoot root;
  root.expand(
      "f proc/sys/kernel/hostname: box\n"
      "f proc/sys/kernel/osrelease: 6.1.0\n"
      "f etc/os-release: NAME=Debian\n"
      "+ PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"
      "f proc/cpuinfo: processor\t: 0\n"
      "+ model name\t: Some CPU @ 2 GHz\n"
      "+ physical id\t: 0\n"
      "+ core id\t: 0\n"
      "+ processor\t: 1\n"
      "+ model name\t: Some CPU @ 2 GHz\n"
      "+ physical id\t: 1\n"
      "+ core id\t: 0\n"
      "f proc/meminfo: MemTotal:       1000 kB\n"
      "f proc/self/status: Name:\tcat\n"
      "+ Cpus_allowed_list:\t1\n"
      "f sys/devices/system/node/node0/cpulist: 0-1\n"
      "f sys/devices/system/node/node0/meminfo: Node 0 MemTotal:       900 kB\n"
      "f dev/shm/x: 1\n");
  const Host host = detect_in(root);
  EXPECT_EQ(host.hostname, "box");
  EXPECT_EQ(*host.kernel, "6.1.0");
  EXPECT_EQ(*host.os, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(*host.cpu.model, "Some CPU @ 2 GHz");
  EXPECT_EQ(*host.cpu.sockets, 2);
  EXPECT_EQ(*host.cpu.cores, 2);
  EXPECT_EQ(host.cpu.allowed, (std::vector<int>{1}));
  EXPECT_EQ(*host.memory_bytes, 1024000);
  EXPECT_EQ(*host.numa_nodes.at(0).memory_bytes, 921600);
  EXPECT_TRUE(host.shared_memory_bytes.has_value());
  EXPECT_EQ(host.container.reason, "no sign of a container");
}

TEST(Detect, SmtSiblingsAreOneCore) {
  test::FakeRoot root;
  std::string manifest = "f sys/devices/system/cpu/online: 0-3\n";
  for (int cpu = 0; cpu < 4; ++cpu) {
    const std::string folder = "f sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    manifest += folder + "physical_package_id: 0\n";
    manifest += folder + "core_cpus_list: " + (cpu % 2 == 0 ? "0,2" : "1,3") + "\n";
  }
  root.expand(manifest);
  const Host host = detect_in(root);
  EXPECT_EQ(*host.cpu.sockets, 1);
  EXPECT_EQ(*host.cpu.cores, 2);
  EXPECT_EQ(host.cpu.logical, 4);
}

TEST(Detect, ContainersByTheirMarks) {
  const auto kind = [](const std::string& manifest, Environment environment = {}) {
    test::FakeRoot root;
    root.expand(manifest);
    return detect_in(root, std::move(environment)).container.value.value_or("none");
  };
  EXPECT_EQ(kind("f .dockerenv:\n"), "docker");
  EXPECT_EQ(kind("f run/.containerenv:\n"), "podman");
  EXPECT_EQ(kind("f proc/self/cgroup: 3:cpu:/kubepods/burstable/pod1\n"), "kubepods");
  EXPECT_EQ(kind("# nothing\n", {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}}), "kubernetes");
  EXPECT_EQ(kind("f proc/self/cgroup: 0::/user.slice\n"), "none");
}

TEST(Detect, ThisHostIsDescribedAndSurvivesTheCodec) {
  const Host host = detect();
  EXPECT_GE(host.cpu.logical, 1);
  EXPECT_EQ(host.cpu.allowed.size(), std::thread::hardware_concurrency());
  EXPECT_GE(host.cpu.usable, 1);
  EXPECT_LE(host.cpu.usable, host.cpu.logical);
  EXPECT_GT(*host.memory_bytes, 1 << 28);
  EXPECT_FALSE(host.hostname.empty());
  const base::Value value = base::to_value(host);
  EXPECT_EQ(base::to_value(base::from_value<Host>(value)), value);
}

}  // namespace
}  // namespace falcon::platform
