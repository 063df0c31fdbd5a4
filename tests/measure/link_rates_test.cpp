#include "measure/link_rates.h"

#include <gtest/gtest.h>

namespace falcon::measure {
namespace {

double raw_gb(int generation, int width) {
  const auto rate = pcie_rate(generation, width, PcieUse::kHostToDevice);
  return rate.has_value() ? rate.value->raw_bytes_per_s / 1e9 : 0;
}

double practical_gb(int generation, int width, PcieUse use) {
  return pcie_rate(generation, width, use).value->practical_bytes_per_s / 1e9;
}

// GT/s x lanes x coding / 8.
TEST(LinkRates, RawRatesOfPcie) {
  EXPECT_NEAR(raw_gb(1, 1), 0.25, 1e-9);
  EXPECT_NEAR(raw_gb(2, 8), 4, 1e-9);
  EXPECT_NEAR(raw_gb(3, 16), 15.75, 0.01);
  EXPECT_NEAR(raw_gb(4, 4), 7.88, 0.01);
  EXPECT_NEAR(raw_gb(5, 16), 63.0, 0.1);
  EXPECT_NEAR(raw_gb(6, 16), 121, 0.1);
}

// What was seen on such links; narrower ones take the share of x16.
TEST(LinkRates, PracticalRatesOfPcie) {
  EXPECT_NEAR(practical_gb(3, 16, PcieUse::kHostToDevice), 11.7, 0.1);
  EXPECT_NEAR(practical_gb(3, 16, PcieUse::kDeviceToHost), 12.9, 0.1);
  EXPECT_NEAR(practical_gb(3, 16, PcieUse::kPeersBelowSwitch), 12.2, 0.1);
  EXPECT_NEAR(practical_gb(3, 16, PcieUse::kPeersAcrossComplex), 9.8, 0.1);
  EXPECT_NEAR(practical_gb(4, 16, PcieUse::kHostToDevice), 26.8, 0.1);
  EXPECT_NEAR(practical_gb(4, 16, PcieUse::kPeersAcrossComplex), 26.3, 0.2);
  EXPECT_NEAR(practical_gb(5, 16, PcieUse::kHostToDevice), 55.4, 0.1);
  EXPECT_NEAR(practical_gb(5, 8, PcieUse::kHostToDevice), 27.7, 0.1);
}

TEST(LinkRates, RatesOfNvlink) {
  const auto h200 = nvlink_rate(18, "9.0");
  EXPECT_NEAR(h200.value->raw_bytes_per_s, 450e9, 1);
  EXPECT_NEAR(h200.value->practical_bytes_per_s, 373.5e9, 1e9);
  EXPECT_NEAR(nvlink_rate(2, "7.0").value->practical_bytes_per_s, 48e9, 1e9);
  EXPECT_NEAR(nvlink_rate(4, "8.6").value->raw_bytes_per_s, 56.25e9, 1);
  EXPECT_FALSE(h200.value->source.empty());
}

TEST(LinkRates, WhatIsNotKnownIsMissing) {
  EXPECT_EQ(pcie_rate(7, 16, PcieUse::kHostToDevice).reason,
            "no figures are known for PCIe Gen7 x16");
  EXPECT_FALSE(pcie_rate(4, 0, PcieUse::kHostToDevice).has_value());
  EXPECT_EQ(nvlink_rate(4, "7.5").reason,
            "no figures are known for NVLink of compute capability 7.5");
}

}  // namespace
}  // namespace falcon::measure
