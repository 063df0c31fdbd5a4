// Findings about the machine: each fires, does not fire just short of its limit, and says nothing
// of what is not known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_run.h"
#include "report/findings.h"

namespace falcon::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

GpuTelemetry& gpu(MadeRun& run, std::size_t i = 0) {
  return run.telemetry.utilization.gpus.at(i);
}

Summary always(double value) {
  return {value, value, value, 2, 100};
}

TEST(MachineFindings, WhatIsUnknownIsNoFault) {
  EXPECT_THAT(finding_ids(MadeRun().report()), IsEmpty());
}

TEST(MachineFindings, LinkUnderLoad) {
  MadeRun run;
  gpu(run).pcie_link.generation_max = std::int64_t{5};
  gpu(run).pcie_link.width_max = std::int64_t{16};
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
  gpu(run).pcie_link.generation = always(5);
  gpu(run).pcie_link.width = always(16);
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
  gpu(run).pcie_link.generation = always(4.5);
  const Report report = run.report();
  EXPECT_THAT(finding_ids(report), ElementsAre("pcie_link_degraded"));
  EXPECT_EQ(report.findings[0].evidence, "generation 4.5 of generation 5, under load");
  gpu(run).pcie_link.width = always(8);
  EXPECT_THAT(run.report().findings[0].evidence, HasSubstr("x8 of x16"));
  gpu(run).pcie_link.generation = always(5);
  EXPECT_THAT(finding_ids(run.report()), ElementsAre("pcie_link_degraded"));
  run.plan.findings.push_back(
      {"pcie_link_degraded", "warning", "the PCIe link of GPU 0000:00:00.0 is narrow", "x8", ""});
  EXPECT_THAT(finding_ids(run.report()), ElementsAre("pcie_link_degraded"));  // the plan's
}

TEST(MachineFindings, TheLinkUnderLoadStandsInTheTopology) {
  MadeRun run;
  gpu(run).pcie_link.generation = always(5);
  gpu(run).pcie_link.width = Measured<Summary>::missing("idle all the time");
  EXPECT_EQ(run.report().topology.gpus[0].link_under_load.reason, "idle all the time");
  gpu(run).pcie_link.width = always(16);
  EXPECT_EQ(*run.report().topology.gpus[0].link_under_load, "Gen5 x16");
  gpu(run).pcie_link.generation = always(4.5);
  EXPECT_EQ(*run.report().topology.gpus[0].link_under_load, "Gen4.5 x16");
  run.telemetry.utilization.gpus.clear();
  EXPECT_EQ(run.report().topology.gpus[0].link_under_load.reason, "no telemetry of this GPU");
}

TEST(MachineFindings, TheGenerationOfAnIdleLinkDropsToSavePower) {
  MadeRun run;
  run.host.gpus[0].pcie_generation = 1;
  run.host.gpus[0].pcie_generation_max = 5;
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
}

TEST(MachineFindings, LinkOfADrive) {
  MadeRun run;
  StorageDisk disk;
  disk.name = "nvme0n1";
  disk.pcie_width = 4;
  disk.pcie_width_max = 4;
  StorageFacts facts;
  facts.disks = std::vector<StorageDisk>{disk};
  run.circumstances.storage.facts = facts;
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
  run.circumstances.storage.facts.value->disks.value->front().pcie_width = 2;
  const Report report = run.report();
  EXPECT_THAT(finding_ids(report), ElementsAre("pcie_link_degraded"));
  EXPECT_THAT(report.findings[0].message, HasSubstr("nvme0n1"));
}

TEST(MachineFindings, PowerLimit) {
  MadeRun run;
  gpu(run).power_limit_w = 690.0;
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
  gpu(run).power_limit_default_w = 700.0;
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
  gpu(run).power_limit_w = 400.0;
  EXPECT_THAT(finding_ids(run.report()), ElementsAre("gpu_power_capped"));
}

TEST(MachineFindings, ClocksLockedLow) {
  MadeRun run;
  GpuTelemetry& one = gpu(run);
  one.sm_clock_mhz = Summary{900, 800, 1400, 2, 100};
  one.sm_clock_max_mhz = 1980.0;
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());  // throttle reasons are not known
  one.throttle = std::vector<ThrottleShare>{{"idle", 40, "sampled"}};
  EXPECT_THAT(finding_ids(run.report()), ElementsAre("gpu_clocks_low"));
  one.sm_clock_mhz.value->max = 1500;
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
  one.sm_clock_mhz.value->max = 1400;
  one.throttle = std::vector<ThrottleShare>{{"sw_power_cap", 30, "counter"}};
  EXPECT_THAT(finding_ids(run.report()), ElementsAre("gpu_throttled"));
  one.throttle = std::vector<ThrottleShare>();
  one.gpu_busy_pct = always(10);
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
}

TEST(MachineFindings, OthersOnAGpu) {
  MadeRun run;
  gpu(run).foreign_processes = std::vector<GpuProcess>();
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
  gpu(run).foreign_processes = std::vector<GpuProcess>{{4711, "python3", {}}, {4712, "", {}}};
  const Report report = run.report();
  EXPECT_THAT(finding_ids(report), ElementsAre("gpu_shared"));
  EXPECT_EQ(report.findings[0].evidence, "pid 4711 (python3), pid 4712");
}

TEST(MachineFindings, GpuMemory) {
  MadeRun run;
  GpuMemoryHealth& health = gpu(run, 1).memory_health;
  health.ecc_uncorrected = std::int64_t{7};  // before this run
  health.new_ecc_corrected = health.new_ecc_uncorrected = std::int64_t{0};
  health.remap_pending = health.remap_failed = health.page_retirement_pending = false;
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
  health.remap_pending = true;
  health.new_ecc_corrected = std::int64_t{2};
  EXPECT_THAT(finding_ids(run.report()), ElementsAre("gpu_memory_worn"));
  health.new_ecc_uncorrected = std::int64_t{1};
  run.plan.spec.strict = true;
  const Report report = run.report();
  EXPECT_THAT(finding_ids(report), ElementsAre("gpu_memory_faulty", "gpu_memory_worn"));
  EXPECT_EQ(exit_code(report), ExitCode::kInvalid);
  health = {};
  health.remap_failed = true;
  EXPECT_THAT(finding_ids(run.report()), ElementsAre("gpu_memory_faulty"));
}

TEST(MachineFindings, CpusFarFromTheGpu) {
  MadeRun run;
  run.host.gpus[0].numa_node = 1;
  run.plan.ranks[0].cpus = {0, 1, 2, 3};
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
  run.host.numa_nodes = {{0, {0, 1}, {}}, {1, {2, 3}, {}}};
  const Report report = run.report();
  EXPECT_THAT(finding_ids(report), ElementsAre("numa_mismatch"));
  EXPECT_THAT(report.findings[0].evidence, HasSubstr("2 of its 4 CPUs are not of node 1"));
  run.plan.ranks[0].cpus = {2, 3};
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
}

TEST(MachineFindings, QuotaOfTheContainer) {
  MadeRun run;
  run.telemetry.utilization.host.cpu_throttled_s = 0.008;  // of 0.4 s
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
  run.telemetry.utilization.host.cpu_throttled_s = 0.009;
  EXPECT_THAT(finding_ids(run.report()), ElementsAre("cpu_quota_throttled"));
  run.telemetry.utilization.window_s = Measured<double>::missing("no window");
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
}

TEST(MachineFindings, SharedMemory) {
  MadeRun run;
  run.host.shared_memory_bytes = std::int64_t{128} << 20;
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
  run.host.shared_memory_bytes = std::int64_t{64} << 20;  // a container's default
  EXPECT_THAT(finding_ids(run.report()), ElementsAre("shared_memory_small"));
  run.plan.backend = "gloo";
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
}

TEST(MachineFindings, PeerAccess) {
  MadeRun run;
  run.host.gpus[0].peers = std::vector<std::string>{"0000:01:00.0", "0000:07:00.0"};
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
  run.host.gpus[1].peers = std::vector<std::string>{"0000:00:00.0"};
  EXPECT_THAT(finding_ids(run.report()), IsEmpty());
  run.host.gpus[1].peers = std::vector<std::string>{"0000:07:00.0"};
  const Report report = run.report();
  EXPECT_THAT(finding_ids(report), ElementsAre("peer_access_blocked"));
  EXPECT_THAT(report.findings[0].evidence, HasSubstr("from 0000:01:00.0 to 0000:00:00.0"));
}

TEST(MachineFindings, Iommu) {
  MadeRun run;
  for (const char* type : {"none", "identity"}) {
    run.host.gpus[0].iommu = std::string(type);
    EXPECT_THAT(finding_ids(run.report()), IsEmpty());
  }
  run.host.gpus[0].iommu = std::string("DMA-FQ");
  EXPECT_THAT(finding_ids(run.report()), ElementsAre("iommu_translates"));
}

}  // namespace
}  // namespace falcon::report
