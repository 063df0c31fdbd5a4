// Findings about storage: each fires, does not fire just short of its limit, and says nothing of
// what is not known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_run.h"
#include "report/findings.h"

namespace falcon::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A run on files of which `fetched` of 1000 bytes came from storage.
struct FileRun : MadeRun {
  explicit FileRun(const std::string& cache, double fetched) {
    plan.data.folder = "/mnt/data";
    plan.spec.data.cache = cache;
    StorageFacts facts;
    facts.layers = std::vector<std::string>{"nvme0n1"};
    facts.disks = std::vector<StorageDisk>(1);
    circumstances.storage.facts = facts;
    CacheState state;
    state.asked = cache;
    state.made_by = "made";
    circumstances.storage.cache = state;
    records(0).loader.file_bytes = 1000;
    ProcessTelemetry process;
    process.name = "rank 0";
    process.read_bytes = fetched;
    telemetry.utilization.host.processes = std::vector<ProcessTelemetry>{process};
  }
  CacheState& cache() { return *circumstances.storage.cache.value; }
};

TEST(StorageFindings, ColdThatWasNot) {
  FileRun run("cold", 1000);
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
  run.cache().resident_begin_pct = 5.0;
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
  run.cache().resident_begin_pct = 6.0;
  run.plan.spec.strict = true;
  const Report report = run.report();
  EXPECT_THAT(finding_ids(report), ElementsAre("cache_not_as_asked"));
  EXPECT_THAT(report.findings[0].evidence, HasSubstr("6"));
  EXPECT_EQ(exit_code(report), ExitCode::kInvalid);
}

TEST(StorageFindings, OfAnotherHostNameIt) {
  FileRun run("cold", 1000);
  HostSight sight;
  sight.storage = run.circumstances.storage;
  sight.storage.cache.value->resident_begin_pct = 50.0;
  StorageDisk disk;
  disk.name = "nvme7n1";
  disk.pcie_width = 2;
  disk.pcie_width_max = 4;
  sight.storage.facts.value->disks = std::vector<StorageDisk>{disk};
  Host host;
  host.hostname = "B";
  run.circumstances.others = {{host, sight}};
  const Report report = run.report();
  std::vector<std::string> messages;
  for (const Finding& finding : report.findings) messages.push_back(finding.message);
  EXPECT_THAT(messages,
              testing::IsSupersetOf(
                  {std::string("the page cache was not cold on host B, as data.cache asks"),
                   std::string("the PCIe link of the drive nvme7n1 on host B is below what it can "
                               "be")}));
}

TEST(StorageFindings, WarmThatWasNot) {
  FileRun run("warm", 0);
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
  run.cache().resident_begin_pct = 95.0;
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
  run.cache().resident_begin_pct = 94.0;
  EXPECT_THAT(finding_ids(run.report()), ElementsAre("cache_not_as_asked"));
  FileRun evicted("warm", 110);
  evicted.cache().resident_begin_pct = 100.0;
  EXPECT_THAT(finding_ids(evicted.report()), ElementsAre("cache_not_as_asked"));
}

TEST(StorageFindings, ReadsFromMemory) {
  EXPECT_THAT(finding_ids(FileRun("cold", 800).report()), IsEmpty());
  EXPECT_THAT(finding_ids(FileRun("cold", 700).report()), ElementsAre("page_cache_warm"));
  EXPECT_THAT(finding_ids(FileRun("any", 700).report()), IsEmpty());
  EXPECT_THAT(finding_ids(FileRun("warm", 0).report()), IsEmpty());
  FileRun named("any", 700);
  named.plan.spec.storage = "localNVMe";
  EXPECT_THAT(finding_ids(named.report()), ElementsAre("page_cache_warm"));
  FileRun unknown("cold", 0);
  unknown.telemetry.utilization.host.processes = {};
  EXPECT_THAT(finding_ids(unknown.report()), IsEmpty());
}

TEST(StorageFindings, AnotherWayOfReading) {
  FileRun run("any", 1000);
  run.plan.spec.data.loader.io = "direct";
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
  run.records(1).loader.io_fallback = "O_DIRECT is refused";
  const Report report = run.report();
  EXPECT_THAT(finding_ids(report), ElementsAre("io_not_as_asked"));
  EXPECT_THAT(report.findings[0].message, HasSubstr("direct"));
  EXPECT_EQ(report.findings[0].severity, "invalid");
}

}  // namespace
}  // namespace falcon::report
