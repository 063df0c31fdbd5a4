#include "analysis/run_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_run.h"

namespace falcon::analysis {
namespace {

Report made(bool on_gpu = true) {
  return report::MadeRun(2, 40, on_gpu).report();
}

TEST(RunFacts, FiguresOfTheReport) {
  Report report = made();
  for (GpuTelemetry& gpu : report.utilization.gpus) {
    gpu.pcie_rx_bytes_per_s = Summary{2e9, 0, 0, 1, 100};
    gpu.pcie_tx_bytes_per_s = Summary{1e9, 0, 0, 1, 100};
  }
  TopologyGpu placed;
  placed.uuid = report.utilization.gpus[1].uuid;
  placed.attach = std::string("falcon");
  report.topology.gpus = {placed};
  const RunFacts facts = facts_of(report, "a.json");
  EXPECT_EQ(facts.model, "mobilenet_v2");
  EXPECT_EQ(facts.devices, 2);
  EXPECT_TRUE(facts.has_gpus);
  EXPECT_EQ(facts.devices_text, "2 x NVIDIA H200");
  EXPECT_NEAR(*facts.samples_per_s, 1600, 1);  // 16 samples in 10 ms
  EXPECT_NEAR(*facts.sample_time_ms, 0.625, 0.001);
  EXPECT_NEAR(*facts.gpu_busy_pct, 97, 1e-9);
  EXPECT_NEAR(*facts.gpu_power_w, 810, 1e-9);
  EXPECT_DOUBLE_EQ(*facts.pcie_bytes_per_s, 6e9);
  EXPECT_DOUBLE_EQ(*facts.falcon_pcie_bytes_per_s, 3e9);
  EXPECT_DOUBLE_EQ(*facts.energy_j_per_epoch,
                   *facts.energy_j_per_sample * static_cast<double>(report.plan.data.samples));
}

TEST(RunFacts, WhatIsMissingKeepsItsReason) {
  Report report = made();
  report.utilization.gpus[1].gpu_busy_pct = MeasuredSummary::missing("not supported");
  EXPECT_EQ(facts_of(report, "").gpu_busy_pct.reason, "not supported");
  EXPECT_EQ(facts_of(made(false), "").gpu_busy_pct.reason, "no GPU computed");
}

TEST(SplitSpec, SeedNameAndPathsMakeNoDifference) {
  Report a = made();
  Report b = made();
  b.spec.name = "other";
  b.spec.seed = 7;
  b.spec.output = "/elsewhere.json";
  b.spec.data.path = "/other/place";
  b.spec.telemetry.interval_ms = 500;
  EXPECT_EQ(split_spec(a).work, split_spec(b).work);
  EXPECT_EQ(split_spec(a).settings, split_spec(b).settings);
}

TEST(SplitSpec, WorkAndSettings) {
  const Report a = made();
  const auto differs = [&a](const Report& b) {
    return std::pair(split_spec(a).work != split_spec(b).work,
                     split_spec(a).settings != split_spec(b).settings);
  };
  Report b = made();
  b.spec.precision = "fp32";
  EXPECT_EQ(differs(b), std::pair(true, false));
  b = made();
  b.plan.data.samples += 1;
  EXPECT_EQ(differs(b), std::pair(true, false));
  b = made();
  b.spec.optimizer.momentum = 0.5;
  EXPECT_EQ(differs(b), std::pair(true, false));
  b = made();
  b.spec.topology.name = "falconGPUs";
  EXPECT_EQ(differs(b), std::pair(false, true));
  b = made();
  b.spec.budget.steps = 4000;
  EXPECT_EQ(differs(b), std::pair(false, true)) << "the amount";
  b = made();
  b.spec.budget = {};
  b.spec.budget.seconds = 5;
  EXPECT_EQ(differs(b), std::pair(true, true)) << "the kind";
  b = made();
  b.topology.emulated = true;
  EXPECT_EQ(differs(b), std::pair(false, true));
}

TEST(ConfigurationName, TopologyAndNamedStorage) {
  Report report = made();
  EXPECT_EQ(configuration_name(facts_of(report, "")), "all");
  report.spec.storage = "falconNVMe";
  EXPECT_EQ(configuration_name(facts_of(report, "")), "all + falconNVMe");
}

}  // namespace
}  // namespace falcon::analysis
