// Where the devices of a host sit, from files and from this host.
#include "platform/machine/host_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/detect.h"
#include "support/fake_host.h"

namespace falcon::platform {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Host host_from(const std::string& path) {
  const Dump dump = read_dump(path);
  return host_of(make_machine(dump), dump, "there");
}

TEST(HostOf, ThePapersMachineIsAHostToPlanFor) {
  const Host host = host_from("tests/data/machines/paper-falcon4016");
  EXPECT_EQ(host.hostname, "there");
  ASSERT_EQ(host.gpus.size(), 16u);
  EXPECT_EQ(host.gpus[4].pci_address, "0000:60:00.0");
  EXPECT_EQ(host.gpus[4].uuid, "GPU-00000000-0000-0000-0000-000000000004");
  EXPECT_THAT(*host.gpus[4].bridges, ElementsAre("0000:5d:00.0", "0000:5e:00.0", "0000:5f:00.0"));
  EXPECT_EQ(host.gpus[4].nvlinks.value, 0);
  EXPECT_EQ(host.gpus[0].nvlinks.value, 6);
  EXPECT_EQ((*host.gpu_paths)[0][3], "NV2");
  EXPECT_EQ((*host.gpu_paths)[4][12], "SYS");
  ASSERT_EQ(host.switches.size(), 6u);
  EXPECT_EQ(host.switches[2].root_port, "0000:5d:00.0");
  EXPECT_EQ(host.switches[2].model, "11f8:4000");
  EXPECT_EQ(host.switches[2].generation.value, 4);
  EXPECT_EQ(host.switches[2].width_max.value, 16);
  EXPECT_EQ(host.cpu.allowed.size(), 80u);
  ASSERT_EQ(host.drives.size(), 2u);
  EXPECT_THAT(host.drives[1].disks, ElementsAre("nvme1n1"));
  EXPECT_THAT(host.mounts.reason, HasSubstr("mountinfo"));
  EXPECT_FALSE(host.virtual_machine.has_value());
}

TEST(HostOf, GpusWithoutAnAddressAreLeftOutAndSaid) {
  const Host host = host_from("tests/data/machines/paper-falcon4016/topo_m.txt");
  EXPECT_THAT(host.gpus, IsEmpty());
  EXPECT_THAT(host.notes, ElementsAre(HasSubstr("without a known PCI address")));
}

constexpr const char* kMounted =
    "l sys/bus/pci/devices/0000:01:00.0 -> ../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0\n"
    "l sys/bus/pci/devices/0000:00:01.0 -> ../../../devices/pci0000:00/0000:00:01.0\n"
    "f sys/devices/pci0000:00/0000:00:01.0/class: 0x060400\n"
    "f sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/class: 0x010802\n"
    "l sys/class/nvme/nvme0 -> ../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0\n"
    "l sys/block/nvme0n1 -> "
    "../devices/pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0/nvme0n1\n"
    "f sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0/nvme0n1/nvme0n1p1/partition: 1\n"
    "l sys/dev/block/259:1 -> "
    "../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0/nvme0n1/nvme0n1p1\n"
    "f proc/self/mountinfo: 30 1 259:1 / / rw - ext4 /dev/nvme0n1p1 rw\n"
    "+ 31 30 0:5 / /proc rw - proc proc rw\n"
    "+ 32 30 259:1 /d /my\\040data rw - ext4 /dev/nvme0n1p1 rw\n";

TEST(Detect, MountsLieOnWholeDisks) {
  test::FakeRoot root;
  root.expand(kMounted);
  DetectOptions options;
  options.root = root.path();
  options.environment = Environment();
  const Host host = detect(options);
  ASSERT_TRUE(host.mounts.has_value()) << host.mounts.reason;
  ASSERT_EQ(host.mounts.value->size(), 2u) << "proc lies on no disk";
  EXPECT_EQ((*host.mounts)[1].folder, "/my data");
  EXPECT_EQ((*host.mounts)[1].source, "/dev/nvme0n1p1");
  EXPECT_THAT((*host.mounts)[1].disks, ElementsAre("nvme0n1"));
  ASSERT_EQ(host.drives.size(), 1u);
  EXPECT_THAT(*host.drives[0].bridges, ElementsAre("0000:00:01.0"));
  EXPECT_THAT(host.switches, IsEmpty()) << "a root port is no switch";
}

}  // namespace
}  // namespace falcon::platform
