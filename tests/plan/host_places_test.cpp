// Places of a run on several hosts, and what tells its hosts apart.
#include "plan/host_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_host.h"
#include "plan/places.h"

namespace falcon::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A host with two GPUs, of which the system file says that one is in a chassis.
struct Side {
  Side(const std::string& name, int low_rank, int high_rank) : host(made_host(2)) {
    host.hostname = name;
    host.cpu.model = std::string("Test CPU");
    host.gpu_paths = std::vector<std::vector<std::string>>{{"X", "NODE"}, {"NODE", "X"}};
    for (Gpu& gpu : host.gpus) {
      gpu.uuid += "-" + name;
      gpu.pcie_width = gpu.pcie_width_max = 16;
      gpu.pcie_generation_max = 4;
    }
    system.gpus["local"].uuid = host.gpus[0].uuid;
    system.gpus["falcon"].uuid = host.gpus[1].uuid;
    system.gpus["falcon"].attach = "falcon";
    system.storage["disk"].mount = "/mnt/disk";
    ranks = {low_rank, high_rank};
  }
  /// After changes to host and system.
  HostShare share() {
    placed = place_processes(
        {"", {"local", "falcon"}},
        {{ranks[0], host.gpus, host.cpu.allowed}, {ranks[1], host.gpus, host.cpu.allowed}}, host,
        system, {});
    places = make_places(placed.placement, host, system, false, "disk");
    return {&host, placed.placement.names, placed.ranks, host.hostname, &places};
  }

  Host host;
  SystemFile system;
  std::vector<int> ranks;
  PlacedProcesses placed;
  Places places;
};

std::vector<std::string> differences(Side& one, Side& other) {
  std::vector<std::string> texts;
  for (const Finding& finding : compare_hosts({one.share(), other.share()})) {
    EXPECT_EQ(finding.id, "hosts_differ");
    EXPECT_THAT(finding.message, HasSubstr("the hosts of the run differ: "));
    texts.push_back(finding.message.substr(29) + " | " + finding.evidence);
  }
  return texts;
}

TEST(HostPlaces, AreInTheOrderOfTheRanksWithTheirHosts) {
  Side a("A", 0, 2), b("B", 1, 3);
  const Places all = joined_places({a.share(), b.share()});
  std::vector<std::string> gpus;
  for (const GpuPlace& gpu : all.gpus) gpus.push_back(gpu.host + " " + gpu.name);
  EXPECT_THAT(gpus, ElementsAre("A local", "B local", "A falcon", "B falcon"));
  ASSERT_EQ(all.pairs.size(), 2u) << "none across hosts";
  EXPECT_EQ(std::pair(all.pairs[0].a, all.pairs[0].b), std::pair(0, 2));
  EXPECT_EQ(std::pair(all.pairs[1].a, all.pairs[1].b), std::pair(1, 3));
  EXPECT_EQ(*all.pairs[1].pair_class, "F-L");
  EXPECT_EQ(all.storage.value->host, "A");
  ASSERT_EQ(all.other_storages.size(), 1u);
  EXPECT_EQ(all.other_storages[0].host, "B");
  EXPECT_THAT(all.order, HasSubstr("A: local = falcon = local"));
  EXPECT_THAT(all.order, HasSubstr("; B: local"));
}

TEST(HostPlaces, UplinksSayWhichHostTheyLeadTo) {
  Side a("A", 0, 1), b("B", 2, 3);
  const HostShare first = a.share(), second = b.share();
  b.places.uplinks.emplace_back();
  b.places.uplinks[0].host = "whatever B calls itself";
  const Places all = joined_places({first, second});
  ASSERT_EQ(all.uplinks.size(), 1u);
  EXPECT_EQ(all.uplinks[0].host, "B");
}

TEST(CompareHosts, SameHostsDoNotDiffer) {
  Side a("A", 0, 1), b("B", 2, 3);
  EXPECT_THAT(differences(a, b), IsEmpty());
}

TEST(CompareHosts, EveryTraitThatDiffersIsNamedWithBothHosts) {
  Side a("A", 0, 1), b("B", 2, 3);
  b.host.gpus[1].name = "Other GPU";
  b.host.gpus[0].pcie_width = 8;
  b.host.gpu_paths = std::vector<std::vector<std::string>>{{"X", "NV18"}, {"NV18", "X"}};
  b.host.cpu.model = std::string("Other CPU");
  b.host.driver = std::string("570.1");
  b.system.gpus["falcon"].attach = "local";
  b.system.storage["disk"].attach = "falcon";
  EXPECT_THAT(
      differences(a, b),
      ElementsAre("devices | B: 1 x Other GPU, 1 x Test GPU; A: 2 x Test GPU",
                  "where GPUs are attached | A: 1 x falcon, 1 x local; B: 2 x local",
                  "paths between GPUs | A: 1 x NODE; B: 1 x NV18",
                  "PCIe links of GPUs | B: 1 x Gen4 x16, 1 x Gen4 x16 at x8; A: 2 x Gen4 x16",
                  "CPUs | B: 16 x Other CPU; A: 16 x Test CPU", "GPU driver | B: 570.1; A: 580.1",
                  "where the storage is attached | B: falcon; A: local"));
}

TEST(CompareHosts, WhatAHostDoesNotTellIsNotHeldAgainstIt) {
  Side a("A", 0, 1), b("B", 2, 3);
  b.host.gpus[0].pcie_width = Measured<int>::missing("a guest");
  b.host.gpu_paths = Measured<std::vector<std::vector<std::string>>>::missing("a guest");
  b.host.cpu.model = Measured<std::string>::missing("a guest");
  EXPECT_THAT(differences(a, b), IsEmpty());
}

TEST(CompareHosts, ManyOfOneKindAreCounted) {
  std::vector<std::unique_ptr<Side>> sides;
  std::vector<HostShare> shares;
  for (int i = 0; i < 7; ++i) {
    sides.push_back(std::make_unique<Side>("h" + std::to_string(i), 2 * i, 2 * i + 1));
    if (i == 6) sides.back()->host.driver = std::string("570.1");
    shares.push_back(sides.back()->share());
  }
  const std::vector<Finding> findings = compare_hosts(shares);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].evidence, "h6: 570.1; h0, h1, h2, h3 and 2 more: 580.1");
}

}  // namespace
}  // namespace falcon::plan
