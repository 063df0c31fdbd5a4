#include "report/storage.h"

#include <optional>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_run.h"
#include "report/summary.h"

namespace falcon::report {
namespace {

/// What a run whose two ranks read so many bytes says, half of them fetched by each.
Storage read_by(std::int64_t file_bytes, std::optional<double> fetched,
                const StorageFacts& facts = {}) {
  MadeRun run;
  run.plan.data.folder = "/mnt/data";
  run.circumstances.storage.facts = facts;
  for (int rank : {0, 1}) {
    run.records(rank).loader.file_bytes = file_bytes / 2;
    run.records(rank).loader.io = "direct";
  }
  std::vector<ProcessTelemetry> processes(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    processes[rank].name = "rank " + std::to_string(rank);
    if (fetched) processes[rank].read_bytes = *fetched / 2;
  }
  run.telemetry.utilization.host.processes = processes;
  return run.report().storage;
}

StorageFacts on_disks(std::vector<std::string> layers) {
  StorageFacts facts;
  facts.file_system = std::string("ext4");
  facts.layers = std::move(layers);
  facts.disks = std::vector<StorageDisk>(1);
  return facts;
}

TEST(Storage, StateFollowsFromWhatWasFetched) {
  const StorageFacts facts = on_disks({"nvme0n1"});
  EXPECT_EQ(*read_by(1000, 1100, facts).state, "cold");
  EXPECT_DOUBLE_EQ(*read_by(1000, 1100, facts).from_storage_pct, 100);
  EXPECT_EQ(*read_by(1000, 890, facts).state, "mixed");
  EXPECT_DOUBLE_EQ(*read_by(1000, 890, facts).from_storage_pct, 89);
  EXPECT_EQ(*read_by(1000, 100, facts).state, "warm");
  EXPECT_EQ(*read_by(1000, 0, facts).state, "warm");
}

TEST(Storage, UnknownIsNotWarm) {
  EXPECT_EQ(read_by(0, 0).state.reason, "no file was read while measuring");
  StorageFacts facts;
  facts.file_system = std::string("9p");
  EXPECT_EQ(read_by(1000, 0, facts).state.reason,
            "the kernel does not count what is fetched from this file system");
  EXPECT_EQ(*read_by(1000, 950, facts).state, "cold");
  facts.file_system = std::string("nfs4");
  EXPECT_EQ(*read_by(1000, 0, facts).state, "warm");
  EXPECT_EQ(read_by(1000, {}, facts).state.reason, "not measured");
}

/// Two hosts with a rank each; the first fetched all that it read, the other nothing.
struct TwoHosts : MadeRun {
  TwoHosts() {
    plan.data.folder = "/mnt/data";
    plan.ranks[1].host = "B";
    records(0).loader.file_bytes = 1000;
    records(1).loader.file_bytes = 500;
    circumstances.storage.facts = on_disks({"nvme0n1"});
    telemetry.utilization.host.processes = std::vector<ProcessTelemetry>{fetched(0, 1000)};
    other.storage.facts = on_disks({"sda"});
    other.storage.cache = CacheState();
    other.telemetry.utilization.host.processes = std::vector<ProcessTelemetry>{fetched(1, 0)};
  }
  static ProcessTelemetry fetched(int rank, double bytes) {
    ProcessTelemetry process;
    process.name = "rank " + std::to_string(rank);
    process.read_bytes = bytes;
    return process;
  }
  Report report_with(const Measured<HostSight>& sight) {
    OtherHost second;
    second.host.hostname = "B";
    second.sight = sight;
    circumstances.others = {second};
    return report();
  }
  HostSight other;
};

TEST(Storage, EveryHostHasTheFiguresOfItsOwnWorkers) {
  TwoHosts run;
  const Storage storage = run.report_with(run.other).storage;
  EXPECT_EQ(*storage.file_bytes, 1000);
  EXPECT_EQ(*storage.state, "cold");
  ASSERT_EQ(storage.hosts.size(), 1U);
  const HostStorage& other = storage.hosts[0];
  EXPECT_EQ(other.name, "B");
  EXPECT_EQ(*other.file_bytes, 500);
  EXPECT_EQ(*other.workers_read_bytes, 0);
  EXPECT_EQ(*other.state, "warm");
  EXPECT_EQ(*other.data.value->layers, std::vector<std::string>{"sda"});
  EXPECT_TRUE(other.cache.has_value());
}

TEST(Storage, TheSummaryCountsTheOtherHosts) {
  TwoHosts run;
  const std::string text = summary(run.report_with(run.other), "r.json", false);
  EXPECT_THAT(std::regex_replace(text, std::regex("\\s+"), " "),
              testing::HasSubstr("cold (100.0 % from storage) on host node1; others: 1 warm"));
}

TEST(Storage, AHostThatSaidNothingIsUnknown) {
  TwoHosts run;
  const Storage storage = run.report_with(Measured<HostSight>::missing("it is gone")).storage;
  ASSERT_EQ(storage.hosts.size(), 1U);
  EXPECT_EQ(storage.hosts[0].data.reason, "it is gone");
  EXPECT_EQ(storage.hosts[0].file_bytes.reason, "it is gone");
  EXPECT_EQ(storage.hosts[0].state.reason, "it is gone");
  EXPECT_EQ(*storage.state, "cold");
}

TEST(Storage, HowFilesWereRead) {
  MadeRun run;
  run.plan.data.folder = "/mnt/data";
  run.records(0).loader.io = run.records(1).loader.io = "uring";
  EXPECT_EQ(*run.report().storage.io, "uring");
  EXPECT_EQ(run.report().storage.io_fallback.reason, "files are read as asked");
  run.records(1).loader.io = "buffered";
  run.records(1).loader.io_fallback = "io_uring is refused";
  EXPECT_EQ(*run.report().storage.io, "uring, buffered");
  EXPECT_EQ(*run.report().storage.io_fallback, "io_uring is refused");
}

TEST(Storage, BytesComeFromRecordsAndTelemetry) {
  MadeRun run;
  run.plan.data.folder = "/mnt/data";
  run.circumstances.storage.facts = StorageFacts{};
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

TEST(Storage, TheSummaryTellsIt) {
  MadeRun run;
  EXPECT_EQ(summary(run.report(), "r.json", false).find("storage"), std::string::npos);
  run.plan.data.folder = "/mnt/data";
  run.plan.spec.storage = "localNVMe";
  StorageFacts facts = on_disks({"nvme0n1"});
  facts.device = std::string("/dev/nvme0n1");
  run.circumstances.storage.facts = facts;
  StorageProbe probe;
  probe.sequential.bytes_per_s = 1.5e9;
  probe.random.bytes_per_s = 3e9;
  probe.random.threads = 8;
  run.circumstances.storage.probe = probe;
  for (int rank : {0, 1}) {
    run.records(rank).loader.file_bytes = 1000;
    run.records(rank).loader.io = "direct";
  }
  run.telemetry.utilization.host.processes =
      std::vector<ProcessTelemetry>{TwoHosts::fetched(0, 1000), TwoHosts::fetched(1, 1000)};
  const std::string text = summary(run.report(), "r.json", false);
  const std::string flat = std::regex_replace(text, std::regex("\\s+"), " ");
  EXPECT_THAT(flat,
              testing::HasSubstr("storage localNVMe, /dev/nvme0n1, direct, cold (100.0 % from "
                                 "storage), probe 1.500 GB/s one reader, 3.000 GB/s as 8 loaders"));
}

TEST(Storage, SyntheticDataReadsNothing) {
  const Storage storage = MadeRun().report().storage;
  EXPECT_EQ(storage.file_bytes.reason, "synthetic data reads nothing");
  EXPECT_EQ(storage.data.reason, "synthetic data lies nowhere");
}

}  // namespace
}  // namespace falcon::report
