#include "plan/link_work.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_host.h"
#include "plan/placement.h"

namespace falcon::plan {
namespace {

using testing::ElementsAre;

Placement placed(const Host& host, const char* topology) {
  NameOrList words;
  words.name = topology;
  return place(words, {}, host, SystemFile{});
}

std::string line_of(const CopyTask& task) {
  std::string line = task.method + (task.peer_to_peer ? " p2p" : "");
  for (const LinkFlow& flow : task.flows) {
    line += " " + std::to_string(flow.source) + ">" + std::to_string(flow.target);
  }
  return line;
}

TEST(LinkWork, CopiesOfTwoGpusAreAllOrderedPairsAndAllWaysToTheHost) {
  const Host host = made_host(2);
  const LinkWork work = copy_work(placed(host, "all"), host, {});
  std::vector<std::string> lines;
  for (const CopyTask& task : work.copies) lines.push_back(line_of(task));
  EXPECT_THAT(
      lines,
      ElementsAre("memcpy -1>-1", "host_to_device -1>0", "device_to_host 0>-1",
                  "host_to_device -1>1", "device_to_host 1>-1", "host_to_device -1>0 -1>1",
                  "device_to_host 0>-1 1>-1",  //
                  "write p2p 0>1", "read p2p 0>1", "write p2p 0>1 1>0", "read p2p 0>1 1>0",
                  "kernel_write p2p 0>1", "kernel_read p2p 0>1", "load p2p 0>1",  //
                  "write p2p 1>0", "read p2p 1>0", "kernel_write p2p 1>0", "kernel_read p2p 1>0",
                  "load p2p 1>0",  //
                  "write 0>1", "read 0>1", "write 0>1 1>0", "read 0>1 1>0", "write 1>0",
                  "read 1>0"));
  for (const CopyTask& task : work.copies) {
    EXPECT_TRUE(std::is_sorted(task.sizes_bytes.begin(), task.sizes_bytes.end()));
    EXPECT_FALSE(task.sizes_bytes.empty());
  }
  EXPECT_GE(work.windows, 5);
  // GPU 1 is on the second node of the made host
  ASSERT_EQ(work.near_cpus.size(), 2U);
  EXPECT_EQ(work.near_cpus[1].front(), 8);
}

TEST(LinkWork, GpusOfASharedUplinkCopyAtOnceAndSoDoAll) {
  const Host host = made_host(4);
  const Placement all = placed(host, "all");
  SharedUplink drawer;
  drawer.devices = {all.names[2], all.names[3], "localNVMe"};
  SharedUplink lonely;
  lonely.devices = {all.names[0], "falconNVMe"};
  std::vector<std::string> together;
  for (const CopyTask& task : copy_work(all, host, {drawer, lonely}).copies) {
    if (task.method == "host_to_device" && task.flows.size() > 1) together.push_back(line_of(task));
  }
  EXPECT_THAT(together,
              ElementsAre("host_to_device -1>2 -1>3", "host_to_device -1>0 -1>1 -1>2 -1>3"));
}

TEST(LinkWork, EightGpusHaveEveryOrderedPairOnceAWay) {
  const Host host = made_host(8);
  std::multiset<std::string> lines;
  for (const CopyTask& task : copy_work(placed(host, "all"), host, {}).copies) {
    lines.insert(line_of(task));
  }
  EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(), lines.size());
  for (int source = 0; source < 8; ++source) {
    for (int target = 0; target < 8; ++target) {
      const std::string flow = std::to_string(source) + ">" + std::to_string(target);
      EXPECT_EQ(lines.count("write p2p " + flow), source == target ? 0U : 1U);
      EXPECT_EQ(lines.count("read " + flow), source == target ? 0U : 1U);
    }
  }
}

TEST(LinkWork, OneGpuHasNoPairsAndNothingTogether) {
  const Host host = made_host(1);
  for (const CopyTask& task : copy_work(placed(host, "all"), host, {}).copies) {
    EXPECT_EQ(task.flows.size(), 1U);
    EXPECT_FALSE(task.peer_to_peer);
  }
}

TEST(LinkWork, TheCpuMeasuresHostMemoryAndSmallerCollectives) {
  const Host host = made_host(0);
  const Placement cpu = placed(host, "cpu");
  const LinkWork work = copy_work(cpu, host, {});
  ASSERT_EQ(work.copies.size(), 1U);
  EXPECT_EQ(line_of(work.copies[0]), "memcpy -1>-1");
  EXPECT_EQ(collective_work(false).collectives.front().sizes_bytes.back(), 16 << 20);
  EXPECT_EQ(collective_plan(cpu, host, false).backend, "gloo");
  EXPECT_EQ(collective_plan(cpu, host, false).ranks.size(), 2U);
  EXPECT_TRUE(collective_plan(cpu, host, false).nccl.environment.empty());
}

TEST(LinkWork, CollectivesOfGpusReachOneGibibyte) {
  const LinkWork work = collective_work(true);
  ASSERT_EQ(work.collectives.size(), 4U);
  for (const CollectiveTask& task : work.collectives) {
    EXPECT_EQ(task.sizes_bytes.front(), 1 << 10);
    EXPECT_EQ(task.sizes_bytes.back(), 1 << 30);
    EXPECT_TRUE(std::is_sorted(task.sizes_bytes.begin(), task.sizes_bytes.end()));
    for (const std::int64_t mebibytes : {1, 25, 256, 1024}) {
      EXPECT_THAT(task.sizes_bytes, testing::Contains(mebibytes << 20));
    }
  }
}

TEST(LinkWork, OneProcessCopiesBetweenAllGpusAndOneAGpuReduces) {
  const Host host = made_host(4);
  const Placement all = placed(host, "all");
  const Plan copies = copy_plan(all, host);
  ASSERT_EQ(copies.ranks.size(), 1U);
  EXPECT_EQ(copies.ranks[0].devices.size(), 4U);
  EXPECT_EQ(copies.ranks[0].cpus, host.cpu.allowed);
  const Plan collectives = collective_plan(all, host, true);
  ASSERT_EQ(collectives.ranks.size(), 4U);
  EXPECT_EQ(collectives.ranks[2].devices.size(), 1U);
  EXPECT_EQ(collectives.backend, "nccl");
  EXPECT_NE(copies.run_id, "");
  EXPECT_EQ(collectives.nccl.environment.at("NCCL_P2P_DISABLE"), "0");
  EXPECT_EQ(collectives.nccl.environment.at("NCCL_DEBUG"), "INFO");
  EXPECT_EQ(collective_plan(all, host, false).nccl.environment.at("NCCL_P2P_DISABLE"), "1");
}

TEST(LinkWork, ATaskIsFoundByTheSizesThatWereDone) {
  const std::vector<CopyTask> tasks = {{{{0, 1}}, "write", true, {1, 2, 3}},
                                       {{{0, 1}}, "read", true, {1}},
                                       {{{1, 0}}, "write", true, {1, 2}}};
  EXPECT_EQ(task_at(tasks, 0), 0U);
  EXPECT_EQ(task_at(tasks, 2), 0U);
  EXPECT_EQ(task_at(tasks, 3), 1U);
  EXPECT_EQ(task_at(tasks, 4), 2U);
  EXPECT_EQ(task_at(tasks, 6), 3U);
}

TEST(LinkWork, ALinkIsTheSameInBothDirectionsButNotPeerToPeerAndStaged) {
  const CopyTask forth{{{0, 1}}, "write", true, {1}};
  const CopyTask back{{{1, 0}}, "read", true, {1}};
  const CopyTask both{{{0, 1}, {1, 0}}, "write", true, {1}};
  const CopyTask staged{{{0, 1}}, "write", false, {1}};
  const CopyTask other{{{0, 2}}, "write", true, {1}};
  const CopyTask host{{{kHostMemory, 0}}, "host_to_device", false, {1}};
  EXPECT_TRUE(is_same_link(forth, back));
  EXPECT_TRUE(is_same_link(forth, both));
  EXPECT_FALSE(is_same_link(forth, staged));
  EXPECT_FALSE(is_same_link(forth, other));
  EXPECT_FALSE(is_same_link(staged, host));
}

TEST(LinkWork, TasksAreSaidInWords) {
  const std::vector<std::string> names = {"gpu0", "gpu1"};
  EXPECT_EQ(text_of({{{0, 1}}, "write", true, {1}}, names),
            "write from gpu0 to gpu1, peer to peer");
  EXPECT_EQ(text_of({{{0, 1}, {1, 0}}, "read", false, {1}}, names),
            "read from gpu0 to gpu1 and back, through host memory");
  EXPECT_EQ(text_of({{{kHostMemory, 1}}, "host_to_device", false, {1}}, names),
            "host_to_device from host memory to gpu1");
  EXPECT_EQ(text_of({{{0, kHostMemory}, {1, kHostMemory}}, "device_to_host", false, {1}}, names),
            "device_to_host from gpu0 to host memory, 2 GPUs at once");
}

}  // namespace
}  // namespace falcon::plan
