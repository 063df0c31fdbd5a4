#include "train/blocks.h"

#include <gtest/gtest.h>

#include "comm/ranks.h"

namespace falcon::train {
namespace {

RunProgress progress_of(std::int64_t planned, std::int64_t completed, double step_s) {
  RunProgress progress;
  progress.planned_steps = planned;
  progress.completed_steps = completed;
  if (step_s > 0) progress.step_s = step_s;
  return progress;
}

TEST(Blocks, AreOneStepLongWhileTimesAreUnknownAndShortAfterwards) {
  const RunLength length{0, 1000, 0};
  EXPECT_EQ(next_block(length, progress_of(0, 0, 0)), (Block{1, false}));
  EXPECT_EQ(next_block(length, progress_of(1, 1, 0.01)), (Block{15, false}));
  EXPECT_EQ(next_block(length, progress_of(1, 1, 2)), (Block{1, false}));
  EXPECT_EQ(next_block(length, progress_of(1, 1, 1e-6)), (Block{256, false}));
}

TEST(Blocks, EndWithTheWarmUpAndWithTheRun) {
  const RunLength length{20, 30, 0};
  EXPECT_EQ(next_block(length, progress_of(18, 15, 0.001)), (Block{2, false}));
  EXPECT_EQ(next_block(length, progress_of(20, 18, 0.001)), (Block{30, true}));
  EXPECT_EQ(next_block(length, progress_of(20, 18, 0.01)), (Block{15, false}));
  EXPECT_EQ(next_block(length, progress_of(35, 18, 0.01)), (Block{15, true}));
}

TEST(Blocks, AStopEndsTheRunAfterWhatIsPlanned) {
  RunProgress progress = progress_of(40, 30, 0.01);
  progress.stop = true;
  EXPECT_EQ(next_block({20, 1000, 0}, progress), (Block{0, true, true}));
  EXPECT_EQ(next_block({100, 1000, 0}, progress), (Block{0, true, true}));
}

TEST(Blocks, SecondsAreCountedWithTheStepsUnderWay) {
  const RunLength length{10, std::nullopt, 1.0};
  EXPECT_EQ(next_block(length, progress_of(10, 8, 0.01)), (Block{1, false}));
  RunProgress progress = progress_of(60, 50, 0.01);
  progress.measured_s = 0.4;  // 10 under way: 0.5 s are left
  EXPECT_EQ(next_block(length, progress), (Block{15, false}));
  progress.measured_s = 0.85;
  EXPECT_EQ(next_block(length, progress).steps, 6);  // 0.05 s, rounded up
  progress.measured_s = 0.95;
  EXPECT_EQ(next_block(length, progress), (Block{0, true}));
}

TEST(Blocks, EveryRankGetsTheSameOnes) {
  constexpr int kWorld = 3;
  std::vector<std::vector<Block>> seen(kWorld);
  test::run_ranks(kWorld, [&](comm::ProcessGroup& group) {
    std::vector<Block>& mine = seen[static_cast<std::size_t>(group.rank())];
    BlockProtocol protocol(&group, {0, 100, 0}, true);
    RunProgress progress;
    protocol.announce(progress);
    for (;;) {
      mine.push_back(protocol.take());
      progress.planned_steps += mine.back().steps;
      progress.completed_steps = progress.planned_steps;
      progress.step_s = 0.15 / (1.0 + static_cast<double>(mine.size()));
      if (mine.back().last) break;
      group.barrier();  // as a step's reduction does
      protocol.announce(progress);
    }
  });
  std::int64_t steps = 0;
  for (const Block& block : seen[0]) steps += block.steps;
  EXPECT_EQ(steps, 100);
  EXPECT_GT(seen[0].size(), 5U);
  EXPECT_EQ(seen[1], seen[0]);
  EXPECT_EQ(seen[2], seen[0]);
}

TEST(Blocks, ARankThatNobodyWaitsForReadsThemLater) {
  std::vector<std::vector<Block>> seen(2);
  test::run_ranks(2, [&](comm::ProcessGroup& group) {
    std::vector<Block>& mine = seen[static_cast<std::size_t>(group.rank())];
    if (group.rank() == 1) group.barrier();
    BlockProtocol protocol(&group, {0, 50, 0}, false);  // engine.allreduce: off
    RunProgress progress;
    progress.step_s = 0.1;
    do {
      protocol.announce(progress);
      mine.push_back(protocol.take());
      progress.planned_steps += mine.back().steps;
      progress.completed_steps = progress.planned_steps;
    } while (!mine.back().last);
    if (group.rank() == 0) group.barrier();
  });
  EXPECT_EQ(seen[0].size(), 50U);
  EXPECT_EQ(seen[1], seen[0]);
}

TEST(Blocks, EndAtCheckpoints) {
  const RunLength length{20, 30, 0, 8};
  EXPECT_EQ(next_block(length, progress_of(18, 15, 0.001)), (Block{2, false})) << "the warm-up";
  EXPECT_EQ(next_block(length, progress_of(20, 18, 0.001)), (Block{8, false}));
  EXPECT_EQ(next_block(length, progress_of(25, 18, 0.001)), (Block{3, false}));
  EXPECT_EQ(next_block(length, progress_of(44, 18, 0.001)), (Block{6, true}));
  const RunLength timed{0, std::nullopt, 100, 8};
  EXPECT_EQ(next_block(timed, progress_of(16, 16, 0.001)), (Block{8, false}));
}

}  // namespace
}  // namespace falcon::train
