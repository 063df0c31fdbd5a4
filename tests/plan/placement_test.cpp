// Which GPUs a topology means on a host, and what is said when it means none.
#include "plan/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/errors.h"
#include "made_host.h"

namespace falcon::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const NameOrList& topology, std::optional<std::int64_t> devices,
                    const Host& host, const SystemFile& system, ExitCode code) {
  try {
    place(topology, devices, host, system);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  ADD_FAILURE() << "was accepted";
  return {};
}

SystemFile chassis_of_four() {
  SystemFile system;
  system.path = "box.yaml";
  for (int i = 0; i < 4; ++i) {
    system.gpus["g" + std::to_string(i)].pci_address = "0000:" + std::to_string(10 + i) + ":00.0";
  }
  system.topologies["falconGPUs"] = {"g2", "g3"};
  system.topologies["ghosts"] = {"g9"};
  system.gpus["g9"].uuid = "GPU-9";
  return system;
}

TEST(Place, AllTakesEveryGpuInPciOrder) {
  const Host host = made_host(3);
  const Placement placement = place({"all", {}}, {}, host, {});
  EXPECT_THAT(placement.names, ElementsAre("0000:10:00.0", "0000:11:00.0", "0000:12:00.0"));
  EXPECT_EQ(placement.devices[2].uuid, "GPU-2");
  EXPECT_TRUE(placement.on_gpu());
}

TEST(Place, AListMayMixAddressesUuidsAndNames) {
  const Host host = made_host(4);
  const Placement placement =
      place({"", {"GPU-3", "00000000:10:00.0", "g1"}}, {}, host, chassis_of_four());
  EXPECT_EQ(placement.devices[0].pci_address, "0000:13:00.0");
  EXPECT_EQ(placement.devices[1].pci_address, "0000:10:00.0");
  EXPECT_EQ(placement.devices[2].pci_address, "0000:11:00.0");
}

TEST(Place, OneAddressAloneIsAListOfOne) {
  EXPECT_EQ(place({"0000:11:00.0", {}}, {}, made_host(2), {}).devices.at(0).uuid, "GPU-1");
  EXPECT_EQ(place({"g3", {}}, {}, made_host(4), chassis_of_four()).devices.at(0).uuid, "GPU-3");
}

TEST(Place, ANamedSetComesFromTheSystemFileAndDevicesTakesTheFirstOfIt) {
  const Host host = made_host(4);
  const Placement placement = place({"falconGPUs", {}}, 1, host, chassis_of_four());
  EXPECT_THAT(placement.names, ElementsAre("g2"));
}

TEST(Place, TheSameGpuTwiceIsRefusedUnderAnyTwoNames) {
  const Host host = made_host(4);
  EXPECT_THAT(refusal({"", {"g1", "GPU-1"}}, {}, host, chassis_of_four(), ExitCode::kUsage),
              HasSubstr("the same GPU twice: g1 and GPU-1 are both 0000:11:00.0"));
}

TEST(Place, ABareIndexIsRefusedWithTheAddresses) {
  EXPECT_THAT(
      refusal({"", {"0"}}, {}, made_host(1), {}, ExitCode::kUsage),
      testing::AllOf(HasSubstr("bare index"), HasSubstr("0000:10:00.0"), HasSubstr("GPU-0")));
}

TEST(Place, WhatTheHostLacksIsExitThreeWithWhatIsThere) {
  EXPECT_THAT(refusal({"all", {}}, {}, made_host(0), {}, ExitCode::kHost), HasSubstr("no driver"));
  EXPECT_THAT(refusal({"all", {}}, 3, made_host(2), {}, ExitCode::kHost), HasSubstr("3 asked for"));
  EXPECT_THAT(refusal({"localGPUs", {}}, {}, made_host(1), {}, ExitCode::kHost),
              HasSubstr("no system file"));
  EXPECT_THAT(refusal({"hybridGPUs", {}}, {}, made_host(1), chassis_of_four(), ExitCode::kHost),
              HasSubstr("box.yaml has no topology of that name"));
  EXPECT_THAT(refusal({"falconNVMe", {}}, {}, made_host(1), chassis_of_four(), ExitCode::kHost),
              HasSubstr("that is a storage"));
  EXPECT_THAT(refusal({"ghosts", {}}, {}, made_host(4), chassis_of_four(), ExitCode::kHost),
              HasSubstr("GPU-9"));
  EXPECT_THAT(refusal({"", {"0000:99:00.0"}}, {}, made_host(1), {}, ExitCode::kHost),
              HasSubstr("not on this host: 0000:99:00.0"));
}

TEST(Place, AnUnknownWordIsExitTwoWithTheNearest) {
  EXPECT_THAT(refusal({"falconGPU", {}}, {}, made_host(1), {}, ExitCode::kUsage),
              HasSubstr("did you mean falconGPUs?"));
  EXPECT_THAT(refusal({"", {"g11"}}, {}, made_host(4), chassis_of_four(), ExitCode::kUsage),
              HasSubstr("did you mean g1?"));
}

TEST(Place, TheCpuHasTwoWorkersUnlessTold) {
  EXPECT_EQ(place({"cpu", {}}, {}, made_host(0), {}).devices.size(), 2u);
  EXPECT_EQ(place({"cpu", {}}, 5, made_host(4), {}).devices.size(), 5u);
}

TEST(BindRanks, AGpusRankGetsItsShareOfTheNode) {
  const Host host = made_host(4);
  const std::vector<RankPlan> ranks = bind_ranks(place({"all", {}}, {}, host, {}), host, {});
  EXPECT_THAT(ranks[0].cpus, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ranks[1].cpus, ElementsAre(8, 9, 10, 11));
  EXPECT_THAT(ranks[2].cpus, ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(ranks[3].decode_threads, 3);
  EXPECT_EQ(ranks[3].compute_threads, 1);
}

TEST(BindRanks, AnUnknownNodeSharesAllAllowedCpus) {
  Host host = made_host(2);
  for (Gpu& gpu : host.gpus) gpu.numa_node = Measured<int>::missing("virtual machine");
  const std::vector<RankPlan> ranks = bind_ranks(place({"all", {}}, {}, host, {}), host, {});
  EXPECT_EQ(ranks[0].cpus.size(), 8u);
  EXPECT_EQ(ranks[1].cpus.front(), 8);
}

TEST(BindRanks, ThreadsKeepToTheQuotaThoughTheMaskIsWider) {
  Host host = made_host(2);
  host.cpu.usable = 5;
  const std::vector<RankPlan> ranks = bind_ranks(place({"all", {}}, {}, host, {}), host, {});
  EXPECT_EQ(ranks[0].cpus.size(), 8u);
  EXPECT_EQ(ranks[0].decode_threads, 1);
}

TEST(BindRanks, MoreRanksThanCpusShareThem) {
  Host host = made_host(0);
  host.cpu.allowed = {0, 1};
  host.cpu.usable = 2;
  const std::vector<RankPlan> ranks = bind_ranks(place({"cpu", {}}, 4, host, {}), host, 7);
  EXPECT_THAT(ranks[3].cpus, ElementsAre(0, 1));
  EXPECT_EQ(ranks[3].compute_threads, 1);
  EXPECT_EQ(ranks[3].decode_threads, 7);
}

}  // namespace
}  // namespace falcon::plan
