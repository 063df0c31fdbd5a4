#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_machine.h"

namespace falcon::telemetry {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

GpuTelemetry gpu_of(FakeMachine& machine, const std::vector<double>& loads = {0.5, 1}) {
  machine.begin();
  machine.run(loads);
  return machine.result().utilization.gpus.at(0);
}

TEST(GpuSampler, WhatTheBoardSaysInTheUnitsOfTheNames) {
  FakeMachine machine;
  const GpuTelemetry gpu = gpu_of(machine);
  EXPECT_EQ(gpu.uuid, "GPU-a");
  EXPECT_EQ(gpu.pci_address, "0000:01:00.0");
  EXPECT_NEAR(gpu.gpu_busy_pct.value->mean, 75, 1e-9);
  EXPECT_NEAR(gpu.memory_busy_pct.value->mean, 37.5, 1e-9);
  EXPECT_NEAR(gpu.memory_used_bytes.value->mean, 0.75e9, 1);
  EXPECT_EQ(*gpu.memory_peak_bytes, 1000000000);
  EXPECT_NEAR(gpu.power_w.value->mean, 150, 1e-9);
  EXPECT_NEAR(*gpu.energy_j, 300, 1e-6);
  EXPECT_NEAR(gpu.sm_clock_mhz.value->max, 1500, 1e-9);
  EXPECT_NEAR(gpu.memory_clock_mhz.value->mean, 2619, 1e-9);
  EXPECT_NEAR(gpu.temperature_c.value->max, 70, 1e-9);
  EXPECT_NEAR(gpu.pcie_rx_bytes_per_s.value->mean, 1.5e6, 1e-6);
  EXPECT_NEAR(gpu.pcie_tx_bytes_per_s.value->mean, 75e3, 1e-6);
}

TEST(GpuSampler, ThrottleReasonsWithTheirShareOfTime) {
  FakeMachine machine;
  const GpuTelemetry gpu = gpu_of(machine, {0.5, 0.5, 0, 0});
  std::map<std::string, std::string> shares;
  for (const ThrottleShare& share : *gpu.throttle) {
    shares[share.reason] = std::to_string(std::lround(share.share_pct)) + " " + share.basis;
  }
  // The driver's own counter where it has one, readings of the bit mask elsewhere; a bit that has
  // no name yet stays a number.
  EXPECT_EQ(shares, (std::map<std::string, std::string>{{"hw_slowdown", "50 sampled"},
                                                        {"idle", "50 sampled"},
                                                        {"other_0x400", "50 sampled"},
                                                        {"sw_power_cap", "13 counter"}}));
  EXPECT_GE(gpu.throttle.value->at(0).share_pct, gpu.throttle.value->at(3).share_pct);
}

TEST(GpuSampler, OneUnsupportedFieldSpoilsNothingElse) {
  FakeMachine machine;
  machine.board_extras =
      R"(, "codes": {"field:83": 3, "nvmlDeviceGetTotalEnergyConsumption": 3,
          "nvmlDeviceGetUtilizationRates": 3, "nvmlDeviceGetPcieThroughput": 3})";
  const GpuTelemetry gpu = gpu_of(machine);
  EXPECT_EQ(gpu.energy_j.reason,
            "nvmlDeviceGetTotalEnergyConsumption: Not Supported (NVML code 3)");
  EXPECT_EQ(gpu.gpu_busy_pct.reason, "nvmlDeviceGetUtilizationRates: Not Supported (NVML code 3)");
  EXPECT_THAT(gpu.pcie_tx_bytes_per_s.reason, HasSubstr("code 3"));
  EXPECT_NEAR(gpu.power_w.value->mean, 150, 1e-9);
  std::vector<std::string> unsupported;
  for (const SourceTelemetry& source : machine.result().utilization.sources) {
    if (source.scope != "GPU-a") continue;
    unsupported.insert(unsupported.end(), source.unsupported.begin(), source.unsupported.end());
  }
  EXPECT_THAT(unsupported, Contains("gpu_busy_pct: nvmlDeviceGetUtilizationRates: Not Supported "
                                    "(NVML code 3)"));
  // What many boards have none of is null with its reason, and no news.
  EXPECT_THAT(unsupported, Not(Contains(HasSubstr("page_retirement_pending"))));
}

TEST(GpuSampler, OlderDriversGivePowerAndEnergyByCalls) {
  FakeMachine machine;
  machine.board_extras = R"(, "codes": {"field:186": 3, "field:83": 3, "field:74": 3})";
  const GpuTelemetry gpu = gpu_of(machine);
  EXPECT_NEAR(gpu.power_w.value->mean, 1e-3, 1e-9);
  EXPECT_NEAR(*gpu.energy_j, 300, 1e-6);
}

TEST(GpuSampler, APassingFailureLeavesAGapNotAZero) {
  FakeMachine machine;
  machine.begin();
  machine.run({1, 1});
  machine.board_extras = R"(, "codes": {"nvmlDeviceGetUtilizationRates": 10})";
  machine.run({1, 1});
  const GpuTelemetry gpu = machine.result().utilization.gpus.at(0);
  EXPECT_EQ(gpu.gpu_busy_pct.reason, "nvmlDeviceGetUtilizationRates: Unknown Error (NVML code 10)");
  EXPECT_TRUE(gpu.temperature_c.has_value());
}

TEST(GpuSampler, ALostGpuEndsItsReadingsAndIsReported) {
  FakeMachine machine;
  machine.begin();
  machine.run({1, 1});
  EXPECT_FALSE(machine.lost().has_value());
  machine.board_extras = R"(, "lost_after_reads": 0)";
  machine.run({1, 1});
  ASSERT_TRUE(machine.lost().has_value());
  EXPECT_EQ(machine.lost()->scope, "GPU-a");
  EXPECT_THAT(machine.lost()->reason, HasSubstr("the GPU at 0000:01:00.0 is lost"));
  EXPECT_TRUE(machine.result().utilization.host.cpu_pct.has_value());
}

TEST(GpuSampler, WithoutADriverEveryMetricSaysWhy) {
  SamplerContext context;
  context.nvml = std::make_shared<const platform::Nvml>("/nowhere/libnvidia-ml.so.1");
  context.gpus = {DevicePlan{"cuda", "GPU-a", "0000:01:00.0", "Fake"},
                  DevicePlan{"cuda", "GPU-a", "0000:01:00.0", "Fake"},
                  DevicePlan{"cpu", "", "", "CPU"}};
  const Session session(make_samplers(context, {{"nvml"}}), {});
  const auto gpus = session.result().utilization.gpus;
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_THAT(gpus[0].power_w.reason, HasSubstr("no NVIDIA driver"));
  EXPECT_THAT(gpus[0].throttle.reason, HasSubstr("no NVIDIA driver"));
}

// 2 calls of 20 ms x 4 GPUs one after another would take 160 ms a round.
TEST(PcieSampler, SeveralGpusAreWatchedAtTheSameTime) {
  std::string boards;
  SamplerContext context;
  for (const char name : {'a', 'b', 'c', 'd'}) {
    const std::string uuid = std::string("GPU-") + name;
    boards += std::string(boards.empty() ? "" : ",") + R"({"uuid": ")" + uuid +
              R"(", "pcie_rx_kb_s": 5, "pcie_tx_kb_s": 6,
                 "delays_ms": {"nvmlDeviceGetPcieThroughput": 20}})";
    context.gpus.push_back(DevicePlan{"cuda", uuid, "", "Fake"});
  }
  const test::FakeNvml fake(R"({"devices": [)" + boards + "]}");
  context.nvml = fake.open();
  Session session(make_samplers(context, {{"nvml"}}), {.interval_ms = 100});
  session.start();
  std::this_thread::sleep_for(std::chrono::milliseconds(650));
  session.stop();
  int num_pcie = 0;
  for (const SourceTelemetry& source : session.result().utilization.sources) {
    if (source.read_ms < 39) continue;
    ++num_pcie;
    EXPECT_GE(source.reads, 4);
    EXPECT_LT(*source.interval_ms, 150);
  }
  EXPECT_EQ(num_pcie, 4);
}

}  // namespace
}  // namespace falcon::telemetry
