// What seldom changes: memory errors, limits, other processes; and the PCIe link under load.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_machine.h"

namespace falcon::telemetry {
namespace {

using testing::HasSubstr;

constexpr const char* kHealthy = R"(, "ecc_corrected": 7, "ecc_uncorrected": 0,
  "power_limit_mw": 600000, "power_limit_default_mw": 700000, "sm_max_mhz": 1980,
  "pcie_generation": 4, "pcie_width": 16, "pcie_generation_max": 5, "pcie_width_max": 16)";

GpuTelemetry gpu_of(FakeMachine& machine, const std::vector<double>& loads = {0.5, 1}) {
  machine.begin();
  machine.run(loads);
  return machine.result().utilization.gpus.at(0);
}

TEST(GpuHealth, CountsSinceDriverLoadAndTheNewOnesApart) {
  FakeMachine machine;
  machine.board_extras = kHealthy;
  machine.extra_counters = R"(, "142": 2, "143": 0, "144": 0, "145": 0)";
  machine.begin();
  machine.run({1});
  machine.board_extras = R"(, "ecc_corrected": 9, "ecc_uncorrected": 1)";
  machine.extra_counters = R"(, "142": 2, "143": 1, "144": 1, "145": 0)";
  machine.go_on({1});
  const GpuMemoryHealth health = machine.result().utilization.gpus.at(0).memory_health;
  EXPECT_EQ(*health.ecc_corrected, 9);
  EXPECT_EQ(*health.new_ecc_corrected, 2);
  EXPECT_EQ(*health.ecc_uncorrected, 1);
  EXPECT_EQ(*health.new_ecc_uncorrected, 1);
  EXPECT_EQ(*health.remapped_rows_corrected, 2);
  EXPECT_EQ(*health.remapped_rows_uncorrected, 1);
  EXPECT_TRUE(*health.remap_pending);
  EXPECT_FALSE(*health.remap_failed);
  // Pages are retired on boards before Ampere only.
  EXPECT_THAT(health.page_retirement_pending.reason, HasSubstr("field 31"));
}

TEST(GpuHealth, WithoutEccThereIsAReasonAndNoZero) {
  FakeMachine machine;
  const GpuMemoryHealth health = gpu_of(machine).memory_health;
  EXPECT_THAT(health.ecc_corrected.reason, HasSubstr("nvmlDeviceGetTotalEccErrors: Not Supported"));
  EXPECT_THAT(health.new_ecc_uncorrected.reason, HasSubstr("nvmlDeviceGetTotalEccErrors"));
  EXPECT_THAT(health.remap_pending.reason, HasSubstr("field 144"));
}

TEST(GpuHealth, LimitsBesideWhatTheyLimit) {
  FakeMachine machine;
  machine.board_extras = kHealthy;
  const GpuTelemetry gpu = gpu_of(machine);
  EXPECT_DOUBLE_EQ(*gpu.power_limit_w, 600);
  EXPECT_DOUBLE_EQ(*gpu.power_limit_default_w, 700);
  EXPECT_DOUBLE_EQ(*gpu.sm_clock_max_mhz, 1980);
}

TEST(GpuLink, IsReadUnderLoadOnly) {
  FakeMachine machine;
  machine.board_extras = kHealthy;
  machine.extra_counters = R"(, "94": 3, "169": 10)";
  machine.begin();
  machine.run({1, 1});
  // As many boards do at rest.
  machine.board_extras = R"(, "pcie_generation": 1, "pcie_width": 16)";
  machine.extra_counters = R"(, "94": 5, "169": 11)";
  machine.go_on({0, 0});
  const GpuLinkTelemetry link = machine.result().utilization.gpus.at(0).pcie_link;
  EXPECT_DOUBLE_EQ(link.generation.value->min, 4);
  EXPECT_DOUBLE_EQ(link.width.value->mean, 16);
  EXPECT_DOUBLE_EQ(link.generation.value->covered_pct, 50);
  EXPECT_EQ(*link.generation_max, 5);
  EXPECT_EQ(*link.replays, 2);
  EXPECT_EQ(*link.recoveries, 1);
}

TEST(GpuLink, OfAGpuAtRestThereIsAReason) {
  FakeMachine machine;
  machine.board_extras = kHealthy;
  const GpuLinkTelemetry link = gpu_of(machine, {0, 0}).pcie_link;
  EXPECT_EQ(link.generation.reason, "the GPU was idle whenever it was read");
  EXPECT_EQ(*link.width_max, 16);
}

TEST(GpuLink, AChangeShowsInTheMean) {
  FakeMachine machine;
  machine.board_extras = kHealthy;
  machine.begin();
  machine.run({1, 1});
  machine.board_extras = R"(, "pcie_generation": 2, "pcie_width": 16)";
  machine.go_on({1, 1});
  const GpuLinkTelemetry link = machine.result().utilization.gpus.at(0).pcie_link;
  EXPECT_DOUBLE_EQ(link.generation.value->mean, 3);
  EXPECT_DOUBLE_EQ(link.generation.value->min, 2);
}

TEST(ForeignProcesses, AreThoseThatAreNotOfTheRun) {
  FakeMachine machine;
  machine.root.file("proc/4321/comm", "python3\n");
  machine.board_extras =
      R"(, "processes": [{"pid": 77, "memory_bytes": 5}, {"pid": 4321, "memory_bytes": 600}])";
  machine.begin();
  machine.run({1});
  machine.board_extras = R"(, "processes": [{"pid": 77, "memory_bytes": 5}])";
  machine.go_on({1});
  const auto foreign = machine.result().utilization.gpus.at(0).foreign_processes;
  ASSERT_EQ(foreign.value->size(), 1U);
  EXPECT_EQ(foreign.value->at(0).pid, 4321);
  EXPECT_EQ(foreign.value->at(0).name, "python3");
  EXPECT_EQ(*foreign.value->at(0).memory_bytes, 600);
}

TEST(ForeignProcesses, NoneIsAnEmptyList) {
  FakeMachine machine;
  machine.board_extras = R"(, "processes": [{"pid": 77}])";
  EXPECT_TRUE(gpu_of(machine).foreign_processes.value->empty());
}

// The driver then lists pids of the host, or none at all.
TEST(ForeignProcesses, InAContainerTheyAreNotKnown) {
  for (const char* listed : {R"(, "processes": [{"pid": 90077}])", R"(, "processes": [])"}) {
    FakeMachine machine;
    machine.board_extras = listed;
    EXPECT_EQ(gpu_of(machine).foreign_processes.reason,
              "the driver does not list this run's own processes, as in a container");
  }
}

}  // namespace
}  // namespace falcon::telemetry
