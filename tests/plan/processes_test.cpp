// Which GPU and which CPUs a process gets that torchrun, mpirun or srun started.
#include "plan/processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/errors.h"
#include "made_host.h"

namespace falcon::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> uuids(const PlacedProcesses& placed) {
  std::vector<std::string> found;
  for (const RankPlan& rank : placed.ranks) found.push_back(rank.devices.at(0).uuid);
  return found;
}

TEST(Processes, TakeTheGpusOfTheTopologyByTheirRankOnTheHost) {
  const Host host = made_host(4);
  const std::vector<ProcessView> processes = {{6, host.gpus, host.cpu.allowed},
                                              {7, host.gpus, host.cpu.allowed}};
  const PlacedProcesses placed = place_processes({"all", {}}, processes, host, {}, {});
  EXPECT_THAT(uuids(placed), ElementsAre("GPU-0", "GPU-1"));
  EXPECT_EQ(placed.ranks[0].rank, 6);
  EXPECT_EQ(placed.ranks[1].rank, 7);
  EXPECT_EQ(placed.ranks[1].host, host.hostname);
  EXPECT_EQ(placed.placement.gpus[1]->uuid, "GPU-1");
}

TEST(Processes, ThatAreShutInTakeWhatTheySee) {
  const Host all = made_host(3);
  Host host = made_host(1);  // as the first process sees it
  const std::vector<ProcessView> processes = {{0, {all.gpus[2]}, host.cpu.allowed},
                                              {1, {all.gpus[0]}, host.cpu.allowed},
                                              {2, {all.gpus[0], all.gpus[1]}, host.cpu.allowed}};
  admit(host, processes);
  EXPECT_EQ(host.gpus.size(), 3u);
  EXPECT_THAT(uuids(place_processes({"all", {}}, processes, host, {}, {})),
              ElementsAre("GPU-2", "GPU-0", "GPU-1"));
}

TEST(Processes, MoreThanGpusAreRefused) {
  const Host host = made_host(1);
  const std::vector<ProcessView> processes = {{0, host.gpus, host.cpu.allowed},
                                              {1, host.gpus, host.cpu.allowed}};
  try {
    place_processes({"all", {}}, processes, host, {}, {});
    ADD_FAILURE() << "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kHost);
    EXPECT_THAT(error.what(), HasSubstr("none is left for rank 1"));
  }
}

TEST(Processes, KeepCpusOfTheirOwn) {
  Host host = made_host(0);
  host.cpu.allowed = {0};
  const std::vector<ProcessView> processes = {{0, {}, {0}}, {1, {}, {4, 5, 6}}};
  admit(host, processes);
  EXPECT_THAT(host.cpu.allowed, ElementsAre(0, 4, 5, 6));
  const PlacedProcesses placed = place_processes({"cpu", {}}, processes, host, {}, {});
  EXPECT_THAT(placed.ranks[0].cpus, ElementsAre(0));
  EXPECT_THAT(placed.ranks[1].cpus, ElementsAre(4, 5, 6));
  EXPECT_EQ(placed.ranks[1].compute_threads, 3);
}

TEST(Processes, OfAllHostsAreInTheOrderOfTheirRanks) {
  Host first = made_host(2), second = made_host(2);
  first.hostname = "A";
  second.hostname = "B";
  second.gpus[0].uuid = "GPU-8";
  second.gpus[1].uuid = "GPU-9";
  const auto share = [](const Host& host, int low, int high) {
    const std::vector<ProcessView> processes = {{low, host.gpus, host.cpu.allowed},
                                                {high, host.gpus, host.cpu.allowed}};
    const PlacedProcesses placed = place_processes({"all", {}}, processes, host, {}, {});
    return HostShare{&host, placed.placement.names, placed.ranks, host.hostname, nullptr};
  };
  const PlacedProcesses all = joined({share(first, 0, 2), share(second, 1, 3)});
  EXPECT_THAT(uuids(all), ElementsAre("GPU-0", "GPU-8", "GPU-1", "GPU-9"));
  EXPECT_EQ(all.ranks[1].host, "B");
  EXPECT_EQ(all.placement.gpus.at(3)->uuid, "GPU-9");
  EXPECT_EQ(all.placement.devices.size(), 4u);
}

}  // namespace
}  // namespace falcon::plan
