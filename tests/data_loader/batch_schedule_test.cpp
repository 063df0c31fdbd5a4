#include "data/batch_schedule.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/errors.h"

namespace falcon::data {
namespace {

using testing::HasSubstr;

std::vector<std::int64_t> order(std::int64_t size, std::uint64_t seed, std::int64_t epoch) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < size; ++i) places.push_back(shuffled(i, size, seed, epoch));
  return places;
}

TEST(Shuffled, IsAPermutationOfEverySize) {
  for (std::int64_t size = 1; size < 300; ++size) {
    std::vector<std::int64_t> places = order(size, 3, 1);
    std::ranges::sort(places);
    for (std::int64_t i = 0; i < size; ++i) ASSERT_EQ(places[static_cast<std::size_t>(i)], i);
  }
}

TEST(Shuffled, SeedAndEpochChangeTheOrder) {
  EXPECT_NE(order(100, 1, 0), order(100, 1, 1));
  EXPECT_NE(order(100, 1, 0), order(100, 2, 0));
  EXPECT_EQ(order(100, 1, 5), order(100, 1, 5));
}

// Every sample lands in every place about equally often, and neighbours do not stay neighbours.
TEST(Shuffled, LooksRandom) {
  constexpr std::int64_t kSize = 10;
  constexpr int kEpochs = 20'000;
  std::vector<std::vector<int>> counts(kSize, std::vector<int>(kSize));
  int neighbours = 0;
  for (std::int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const std::vector<std::int64_t> places = order(kSize, 1, epoch);
    for (std::size_t i = 0; i < places.size(); ++i) {
      ++counts[i][static_cast<std::size_t>(places[i])];
      if (i > 0 && places[i] == places[i - 1] + 1) ++neighbours;
    }
  }
  for (const auto& row : counts) {
    for (const int count : row) EXPECT_NEAR(count, kEpochs / kSize, 250);  // 6 standard deviations
  }
  // 9 pairs of places, each rises by one with probability 9 / 90.
  EXPECT_NEAR(neighbours, 0.9 * kEpochs, 1000);
}

std::vector<SampleKey> global_batch(std::int64_t step, int ranks, std::int64_t samples = 101) {
  std::vector<SampleKey> keys;
  for (int rank = 0; rank < ranks; ++rank) {
    const BatchSchedule schedule({samples, 8, ranks, rank, 42});
    for (std::int64_t i = 0; i < schedule.rank_batch(); ++i) {
      keys.push_back(schedule.sample(step, i));
    }
  }
  return keys;
}

std::vector<std::int64_t> indices(const std::vector<SampleKey>& keys) {
  std::vector<std::int64_t> list;
  for (const SampleKey& key : keys) list.push_back(key.index);
  return list;
}

TEST(BatchSchedule, TheGlobalBatchIsTheSameForEveryNumberOfRanks) {
  for (const std::int64_t step : {0, 1, 11, 12, 13, 500}) {
    const auto one = indices(global_batch(step, 1));
    for (const int ranks : {2, 4, 8}) EXPECT_EQ(indices(global_batch(step, ranks)), one);
  }
}

TEST(BatchSchedule, AnEpochTakesEverySampleOnceButTheDroppedOnes) {
  const BatchSchedule schedule({101, 8, 1, 0, 42});
  EXPECT_EQ(schedule.steps_per_epoch(), 12);
  EXPECT_EQ(schedule.dropped_per_epoch(), 5);
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    std::set<std::int64_t> seen;
    for (std::int64_t step = 12 * epoch; step < 12 * (epoch + 1); ++step) {
      for (const SampleKey& key : global_batch(step, 4)) {
        EXPECT_EQ(key.epoch, epoch);
        EXPECT_EQ(key.seed, 42u);
        EXPECT_TRUE(seen.insert(key.index).second) << "taken twice: " << key.index;
      }
    }
    EXPECT_EQ(seen.size(), 96u);
  }
}

TEST(BatchSchedule, WithoutShuffleTheOrderIsTheDataSets) {
  const BatchSchedule schedule({10, 4, 2, 1, 0, false});
  EXPECT_EQ(schedule.sample(0, 0).index, 2);
  EXPECT_EQ(schedule.sample(1, 1).index, 7);
  EXPECT_EQ(schedule.sample(2, 0).index, 2);
  EXPECT_EQ(schedule.sample(2, 0).epoch, 1);
}

void expect_refused(const BatchScheduleOptions& options, const std::string& part) {
  try {
    const BatchSchedule schedule(options);
    FAIL() << "accepted; expected: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(BatchSchedule, RefusesWhatCannotBe) {
  expect_refused({100, 101}, "larger than the data set, which has 100");
  expect_refused({100, 10, 3}, "divided by 3 ranks");
  expect_refused({100, 0}, "1 or more");
  expect_refused({100, 10, 2, 2}, "rank 2 of 2");
}

TEST(BatchSchedule, AWholePassHoldsEverySampleOnceOnSomeRank) {
  for (const std::int64_t samples : {1, 7, 8, 9, 100}) {
    for (const int ranks : {1, 2, 4}) {
      std::vector<std::int64_t> counted;
      for (int rank = 0; rank < ranks; ++rank) {
        BatchScheduleOptions options{samples, 4 * ranks, ranks, rank, 42};
        options.shuffle = false;
        options.whole = true;
        const BatchSchedule schedule(options);
        EXPECT_EQ(schedule.dropped_per_epoch(), 0);
        for (std::int64_t step = 0; step < schedule.steps_per_epoch(); ++step) {
          for (std::int64_t i = 0; i < 4; ++i) {
            const SampleKey key = schedule.sample(step, i);
            EXPECT_LT(key.index, samples) << "also what fills up can be read";
            if (!schedule.is_repeated(step, i)) counted.push_back(key.index);
          }
        }
      }
      std::ranges::sort(counted);
      std::vector<std::int64_t> all(static_cast<std::size_t>(samples));
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(counted, all) << samples << " samples, " << ranks << " ranks";
    }
  }
}

}  // namespace
}  // namespace falcon::data
