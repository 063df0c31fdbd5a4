#include "report/storage.h"

#include <gtest/gtest.h>

#include "made_run.h"

namespace falcon::report {
namespace {

constexpr const char* kMounts =
    "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n"
    "30 22 259:5 / /mnt rw - xfs /dev/nvme1n1 rw\n"
    "31 30 0:52 / /mnt/my\\040data rw shared:7 master:2 - nfs4 server:/export rw\n"
    "32 30 259:6 / /mnt rw - ext4 /dev/nvme2n1 rw\n"
    "garbled\n";

TEST(StorageFacts, TheLongestMountThatHoldsTheFolder) {
  EXPECT_EQ(*storage_facts("/srv/x", kMounts).device, "/dev/nvme0n1p2");
  EXPECT_EQ(*storage_facts("/mnt/my data/train", kMounts).file_system, "nfs4");
  EXPECT_EQ(*storage_facts("/mnt/my data", kMounts).mount, "/mnt/my data");
  EXPECT_EQ(*storage_facts("/mnt/my database", kMounts).device, "/dev/nvme2n1");
  EXPECT_EQ(*storage_facts("/mntx", kMounts).mount, "/");
}

TEST(StorageFacts, NothingIsMissingWithAReason) {
  EXPECT_EQ(storage_facts("/data", "").mount.reason, "no mount point holds the folder");
  EXPECT_EQ(find_storage("").reason, "synthetic data lies nowhere");
}

TEST(Storage, BytesComeFromRecordsAndTelemetry) {
  MadeRun run;
  run.plan.data.folder = "/mnt/data";
  run.records(0).loader.file_bytes = 600;
  run.records(1).loader.file_bytes = 400;
  ProcessTelemetry process;
  process.read_bytes = 250.0;
  run.telemetry.utilization.host.processes = std::vector<ProcessTelemetry>{process, process};
  DiskTelemetry disk;
  disk.holds_data = true;
  disk.read_bytes_per_s = Summary{2000, 0, 4000, 2, 100};
  run.telemetry.utilization.host.disks = std::vector<DiskTelemetry>{{}, disk};
  const Storage storage = run.report().storage;
  EXPECT_EQ(*storage.file_bytes, 1000);
  EXPECT_EQ(*storage.workers_read_bytes, 500);
  EXPECT_EQ(*storage.device_read_bytes, 800);
}

TEST(Storage, SyntheticDataReadsNothing) {
  const Storage storage = MadeRun().report().storage;
  EXPECT_EQ(storage.file_bytes.reason, "synthetic data reads nothing");
  EXPECT_EQ(storage.data.reason, "synthetic data lies nowhere");
}

}  // namespace
}  // namespace falcon::report
