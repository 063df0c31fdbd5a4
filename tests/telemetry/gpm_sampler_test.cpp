#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_machine.h"

namespace falcon::telemetry {
namespace {

using testing::HasSubstr;

constexpr double kMib = 1024 * 1024;

GpuTelemetry gpu_of(FakeMachine& machine, const std::vector<double>& loads = {0.5, 1},
                    const std::optional<std::vector<std::string>>& chosen = {}) {
  machine.begin(chosen);
  machine.run(loads);
  return machine.result().utilization.gpus.at(0);
}

TEST(GpmSampler, ActivityAndAllTrafficOfTheTimeBetweenReadings) {
  FakeMachine machine;
  machine.has_gpm = true;
  const GpuTelemetry gpu = gpu_of(machine);
  EXPECT_NEAR(gpu.sm_active_pct.value->mean, 60, 1e-9);
  EXPECT_NEAR(gpu.sm_active_pct.value->max, 80, 1e-9);
  EXPECT_NEAR(gpu.tensor_active_pct.value->mean, 45, 1e-9);
  EXPECT_NEAR(gpu.dram_active_pct.value->mean, 30, 1e-9);
  EXPECT_EQ(*gpu.pcie_basis, "counted");
  EXPECT_NEAR(gpu.pcie_rx_bytes_per_s.value->mean, 750 * kMib, 1);
  EXPECT_NEAR(gpu.pcie_tx_bytes_per_s.value->mean, 75 * kMib, 1);
  EXPECT_DOUBLE_EQ(gpu.pcie_rx_bytes_per_s.value->covered_pct, 100);
}

TEST(GpmSampler, TakesTheRoundOfTheSlowPcieCalls) {
  FakeMachine machine;
  machine.has_gpm = true;
  // Each would block for 20 ms.
  machine.board_extras = R"(, "codes": {"nvmlDeviceGetPcieThroughput": 999})";
  EXPECT_EQ(*gpu_of(machine).pcie_basis, "counted");
  for (const SourceTelemetry& source : machine.result().utilization.sources) {
    for (const std::string& metric : source.unsupported) {
      EXPECT_THAT(metric, testing::Not(HasSubstr("pcie_rx_bytes_per_s")));
    }
  }
}

TEST(GpmSampler, BoardsBeforeHopperHaveTheSampledTraffic) {
  FakeMachine machine;
  const GpuTelemetry gpu = gpu_of(machine);
  EXPECT_THAT(gpu.sm_active_pct.reason, HasSubstr("this board has none (before Hopper)"));
  EXPECT_EQ(*gpu.pcie_basis, "sampled");
  EXPECT_NEAR(gpu.pcie_rx_bytes_per_s.value->mean, 1.5e6, 1e-6);
}

TEST(GpmSampler, LeftOutTheTrafficIsSampledAllTheSame) {
  FakeMachine machine;
  machine.has_gpm = true;
  const GpuTelemetry gpu = gpu_of(machine, {0.5, 1}, {{"nvml"}});
  EXPECT_EQ(gpu.sm_active_pct.reason, "gpm is not among telemetry.samplers");
  EXPECT_EQ(*gpu.pcie_basis, "sampled");
}

TEST(GpmSampler, AloneItTellsAllThatItKnows) {
  FakeMachine machine;
  machine.has_gpm = true;
  const GpuTelemetry gpu = gpu_of(machine, {0.5, 1}, {{"gpm"}});
  EXPECT_EQ(gpu.power_w.reason, "nvml is not among telemetry.samplers");
  EXPECT_TRUE(gpu.sm_active_pct.has_value());
  EXPECT_EQ(*gpu.pcie_basis, "counted");
  EXPECT_EQ(*gpu.nvlink_basis, "with_protocol");
}

TEST(GpmSampler, AMetricOfItsOwnCodeSpoilsNoOther) {
  FakeMachine machine;
  machine.board_extras =
      R"(, "gpm": {"time_s": 0, "counters": {}}, "codes": {"nvmlGpmSampleGet": 0})";
  const GpuTelemetry gpu = gpu_of(machine);
  EXPECT_THAT(gpu.sm_active_pct.reason,
              HasSubstr("GPM metric 2: nvmlGpmMetricsGet: Not Supported"));
  EXPECT_THAT(gpu.pcie_basis.reason, HasSubstr("GPM metric 21"));
  EXPECT_TRUE(gpu.power_w.has_value());
}

TEST(GpmSampler, ASampleThatFailedIsBridged) {
  FakeMachine machine;
  machine.has_gpm = true;
  machine.begin();
  machine.run({1});
  machine.board_extras = R"(, "codes": {"nvmlGpmSampleGet": 999})";
  machine.go_on({0.5});
  machine.board_extras = "";
  machine.go_on({0});
  const GpuTelemetry gpu = machine.result().utilization.gpus.at(0);
  EXPECT_NEAR(gpu.sm_active_pct.value->mean, 80 * 1.5 / 3, 1e-9);
  EXPECT_EQ(gpu.sm_active_pct.value->count, 2);
  EXPECT_DOUBLE_EQ(gpu.sm_active_pct.value->covered_pct, 100);
}

// The fields 197 and 198 wrap at 2^32, at full speed every 78 ms: how often is not known.
TEST(PcieSampler, BytesThatWrapAreNotUsed) {
  FakeMachine machine;
  machine.board_extras = R"(, "codes": {"nvmlDeviceGetPcieThroughput": 3})";
  machine.extra_counters = R"(, "197": 5, "198": 6)";
  const GpuTelemetry gpu = gpu_of(machine);
  EXPECT_THAT(gpu.pcie_rx_bytes_per_s.reason, HasSubstr("nvmlDeviceGetPcieThroughput"));
  EXPECT_THAT(gpu.pcie_basis.reason, HasSubstr("nvmlDeviceGetPcieThroughput"));
}

TEST(Nvlink, PayloadInKibOfAllLinksTogether) {
  FakeMachine machine;
  machine.has_gpm = true;  // which counts the protocol too
  const GpuTelemetry gpu = gpu_of(machine);
  EXPECT_EQ(*gpu.nvlink_basis, "payload");
  EXPECT_NEAR(gpu.nvlink_rx_bytes_per_s.value->mean, 0.75 * 3000 * 1024, 1e-6);
  EXPECT_NEAR(gpu.nvlink_tx_bytes_per_s.value->mean, 0.75 * 1000 * 1024, 1e-6);
}

TEST(Nvlink, WhereThePayloadIsNotCountedTheBasisSaysSo) {
  FakeMachine machine;
  machine.has_gpm = true;
  machine.board_extras = R"(, "codes": {"field:138@all": 3, "field:139@all": 3})";
  const GpuTelemetry gpu = gpu_of(machine);
  EXPECT_EQ(*gpu.nvlink_basis, "with_protocol");
  EXPECT_NEAR(gpu.nvlink_rx_bytes_per_s.value->mean, 0.75 * 3500 * kMib, 1);
}

TEST(Nvlink, TheFifthGenerationCountsBytes) {
  FakeMachine machine;
  machine.board_extras = R"(, "codes": {"field:138@all": 3, "field:139@all": 3})";
  machine.extra_counters = R"(, "202@all": 500, "204@all": 700)";
  machine.begin();
  machine.run({1});
  machine.extra_counters = R"(, "202@all": 2500, "204@all": 4700)";
  machine.go_on({1});
  const GpuTelemetry gpu = machine.result().utilization.gpus.at(0);
  EXPECT_EQ(*gpu.nvlink_basis, "payload");
  EXPECT_NEAR(gpu.nvlink_rx_bytes_per_s.value->mean, 2000, 1e-9);
  EXPECT_NEAR(gpu.nvlink_tx_bytes_per_s.value->mean, 1000, 1e-9);
}

TEST(Nvlink, OutOfViewItIsNoZero) {
  FakeMachine machine;
  machine.board_extras = R"(, "codes": {"field:138@all": 3, "field:139@all": 3})";
  const GpuTelemetry gpu = gpu_of(machine);
  EXPECT_THAT(gpu.nvlink_rx_bytes_per_s.reason, HasSubstr("field 139"));
  EXPECT_THAT(gpu.nvlink_basis.reason, HasSubstr("field 139"));
}

}  // namespace
}  // namespace falcon::telemetry
