#include "analysis/links_table.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/errors.h"

namespace falcon::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Spread spread(double value) {
  return {3, value, value * 0.9, value * 1.1};
}

/// Two local GPUs with fast links, two in a chassis, slow links between.
LinksReport made_links() {
  LinksReport links;
  for (int i = 0; i < 4; ++i) {
    LinkDevice device;
    device.index = i;
    device.name = "gpu" + std::to_string(i);
    device.attach = std::string(i < 2 ? "local" : "falcon");
    links.devices.push_back(device);
  }
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      if (from == to) continue;
      LinkPair pair;
      pair.source = from;
      pair.target = to;
      const bool is_local = from < 2 && to < 2;
      const bool is_falcon = from >= 2 && to >= 2;
      pair.pair_class = is_local ? "L-L" : is_falcon ? "F-F same drawer" : "F-L";
      pair.peer_to_peer.both_bytes_per_s = is_local ? 72e9 : is_falcon ? 24e9 : 20e9;
      pair.peer_to_peer.latency_s = 2e-6;
      pair.host_staged.both_bytes_per_s = 16e9;
      pair.host_staged.latency_s = 8e-6;
      links.pairs.push_back(pair);
    }
  }
  CollectiveSeries direct;
  direct.operation = "all_reduce";
  direct.peer_to_peer = true;
  direct.backend = "nccl";
  direct.ranks = 4;
  direct.bus_bytes_per_s = 8e9;
  direct.by_size = {{1000, 20, spread(1e-5), {}, {}}, {100000000, 20, spread(0.02), {}, {}}};
  links.collectives = {direct};
  return links;
}

std::string refusal(const LinksReport& links, const std::string& topology) {
  try {
    fabric_of(links, topology);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    return error.what();
  }
  return "";
}

TEST(LinksTable, TheWholeSetTakesItsMeasuredCollective) {
  const Fabric all = fabric_of(made_links(), "all");
  EXPECT_EQ(all.devices, 4);
  EXPECT_DOUBLE_EQ(all_reduce_s(all, 1e8, 4), 0.02);
  EXPECT_DOUBLE_EQ(all_reduce_s(all, 1e8, 4, Pace::kSlow), 0.022);
  EXPECT_THAT(all.source, HasSubstr("measured over 4 devices (nccl)"));
  EXPECT_EQ(devices_in(made_links(), "all"), 4);
}

TEST(LinksTable, APartIsARingAtItsSlowestHop) {
  const LinksReport links = made_links();
  // The whole ring's slowest hop is F-L: 20 GB/s both ways, 10 one way; its all_reduce reaches 8.
  const Fabric local = fabric_of(links, "localGPUs");
  EXPECT_NEAR(all_reduce_s(local, 1e9, 2), 2 * 2e-6 + 1e9 / (36e9 * 0.8), 1e-9);
  const Fabric falcon = fabric_of(links, "falconGPUs");
  EXPECT_NEAR(all_reduce_s(falcon, 1e9, 2), 2 * 2e-6 + 1e9 / (12e9 * 0.8), 1e-9);
  EXPECT_THAT(falcon.source, HasSubstr("F-F same drawer"));
  EXPECT_EQ(devices_in(links, "falconGPUs"), 2);
}

TEST(LinksTable, HostStagedUsesNoDirectAccess) {
  const Fabric staged = fabric_of(made_links(), "host_staged");
  EXPECT_NEAR(all_reduce_s(staged, 1e9, 2), 2 * 8e-6 + 1e9 / 8e9, 1e-9);
}

TEST(LinksTable, WhatItDoesNotHaveIsRefused) {
  LinksReport links = made_links();
  EXPECT_THAT(refusal(links, "elsewhere"), HasSubstr("a table of links knows all,"));
  for (LinkDevice& device : links.devices) device.attach = std::string("local");
  EXPECT_THAT(refusal(links, "falconGPUs"), HasSubstr("fewer than two"));
  EXPECT_THAT(refusal(links, "hybridGPUs"), HasSubstr("fewer than two"));
  links.collectives.clear();
  links.pairs.clear();
  EXPECT_THAT(refusal(links, "all"), HasSubstr("lacks a pair"));
}

TEST(LinksTable, TheMatrixHasWhatWasMeasuredAndGapsForTheRest) {
  LinksReport links = made_links();
  links.pairs[0].peer_to_peer.both_bytes_per_s = Measured<double>::missing("no peer access");
  std::vector<Chart> charts;
  std::vector<PageTable> tables;
  add_link_figures(links, charts, tables);
  const Chart& chart = charts.front();
  EXPECT_THAT(chart.columns, ElementsAre("gpu0", "gpu1", "gpu2", "gpu3"));
  ASSERT_EQ(chart.rows.size(), 8u);
  EXPECT_FALSE(chart.rows[0].values[0].has_value()) << "itself";
  EXPECT_FALSE(chart.rows[0].values[1].has_value());
  EXPECT_EQ(chart.rows[0].missing, "no peer access");
  EXPECT_DOUBLE_EQ(*chart.rows[0].values[2], 20);
  EXPECT_DOUBLE_EQ(*chart.rows[7].values[0], 16) << "through host memory";
}

}  // namespace
}  // namespace falcon::analysis
