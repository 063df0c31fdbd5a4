#include "data/loader.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/image_folder.h"
#include "data_loader/picture_files.h"
#include "falconbench/clock.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {

using test::NumberSet;
using test::PlainAllocator;
using testing::HasSubstr;

std::vector<std::byte> copy(const LoadedBatch& batch) {
  return {batch.memory.begin(), batch.memory.end()};
}

// All bytes of the tensors of `steps` steps, rank after rank, as one run of `ranks` processes would
// see them.
std::vector<std::vector<std::byte>> run(const Dataset& set, int threads, int ranks,
                                        std::int64_t steps, std::int64_t global_batch) {
  std::vector<std::vector<std::byte>> result(static_cast<std::size_t>(steps));
  for (int rank = 0; rank < ranks; ++rank) {
    PlainAllocator allocator;
    const BatchSchedule schedule({set.size(), global_batch, ranks, rank, 5});
    Loader loader(set, schedule, allocator, {threads, 3, 0, steps});
    for (std::int64_t step = 0; step < steps; ++step) {
      const LoadedBatch& batch = loader.next();
      EXPECT_EQ(batch.step, step);
      EXPECT_EQ(batch.epoch, schedule.epoch(step));
      auto& bytes = result[static_cast<std::size_t>(step)];
      for (std::int64_t i = 0; i < schedule.rank_batch(); ++i) {
        for (std::size_t t = 0; t < batch.tensors.size(); ++t) {
          const std::size_t size = set.layout()[t].sample_bytes();
          const std::byte* sample = batch.tensors[t] + static_cast<std::size_t>(i) * size;
          bytes.insert(bytes.end(), sample, sample + size);
        }
      }
      loader.release(batch);
    }
  }
  return result;
}

TEST(Loader, BatchesAreTheSameForEveryNumberOfThreadsAndRanks) {
  const test::TemporaryFolder folder;
  test::write_picture_folder(folder / "train", 21);
  std::vector<std::byte> cut = test::make_jpeg({});
  cut.resize(cut.size() / 2);
  test::write_bytes(folder / "train/class_b/cut.jpg", cut);
  DatasetOptions options;
  options.path = folder.path();
  options.subfolder = "train";
  options.image_size = 32;
  const auto fresh = [&] { return ImageFolder(options); };
  const auto expected = run(fresh(), 1, 1, 9, 8);  // 2 steps an epoch: five epochs
  for (const int threads : {1, 2, 5}) {
    for (const int ranks : {1, 2, 4}) {
      EXPECT_EQ(run(fresh(), threads, ranks, 9, 8), expected) << threads << " " << ranks;
    }
  }
}

TEST(Loader, DeliversEverySampleOfAnEpochOnce) {
  const NumberSet set(103);
  PlainAllocator allocator;
  const BatchSchedule schedule({103, 10, 1, 0, 1});
  Loader loader(set, schedule, allocator, {3, 4});
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::int64_t> values;
    for (int step = 0; step < 10; ++step) {
      const LoadedBatch& batch = loader.next();
      EXPECT_EQ(batch.epoch, epoch);
      for (std::size_t i = 0; i < 10; ++i) {
        std::int64_t value = 0;
        std::memcpy(&value, batch.tensors[0] + 8 * i, sizeof value);
        EXPECT_EQ(value, batch.samples[i] + 1000 * epoch);
        values.push_back(batch.samples[i]);
      }
      loader.release(batch);
    }
    std::ranges::sort(values);
    EXPECT_EQ(std::ranges::adjacent_find(values), values.end());
  }
}

TEST(Loader, StartsAtAnyStep) {
  const NumberSet set(50);
  PlainAllocator allocator;
  const BatchSchedule schedule({50, 5, 1, 0, 1});
  Loader from_start(set, schedule, allocator, {2, 2});
  Loader from_seven(set, schedule, allocator, {2, 2, 7});
  for (int step = 0; step < 7; ++step) from_start.release(from_start.next());
  for (int step = 7; step < 20; ++step) {
    const LoadedBatch& a = from_start.next();
    const LoadedBatch& b = from_seven.next();
    EXPECT_EQ(b.step, step);
    EXPECT_TRUE(std::ranges::equal(a.samples, b.samples));
    from_start.release(a);
    from_seven.release(b);
  }
}

TEST(Loader, SlotsMayBeHeldAndGivenBackInAnyOrder) {
  const NumberSet set(100);
  PlainAllocator allocator;
  Loader loader(set, BatchSchedule({100, 4, 1, 0, 1}), allocator, {2, 3});
  for (int round = 0; round < 20; ++round) {
    const LoadedBatch& first = loader.next();
    const LoadedBatch& second = loader.next();
    const std::vector<std::byte> before = copy(first);
    loader.release(second);
    EXPECT_EQ(copy(first), before);
    loader.release(first);
  }
  const LoadedBatch& a = loader.next();
  const LoadedBatch& b = loader.next();
  const LoadedBatch& c = loader.next();
  EXPECT_THROW(loader.next(), Error);  // would wait for ever
  loader.release(a);
  loader.release(b);
  loader.release(c);
}

TEST(Loader, DamagedSamplesAreReplacedByTheNextUsableOnesAndCountedOnce) {
  NumberSet set(20);
  set.unusable = [](std::int64_t i) { return i == 4 || i == 5 || i == 19; };
  PlainAllocator allocator;
  const BatchSchedule schedule({20, 5, 1, 0, 1});
  Loader loader(set, schedule, allocator, {3, 3});
  for (std::int64_t step = 0; step < 40; ++step) {
    const LoadedBatch& batch = loader.next();
    for (std::int64_t i = 0; i < 5; ++i) {
      const std::int64_t wanted = schedule.sample(step, i).index;
      const std::int64_t expected = wanted == 4 || wanted == 5 ? 6 : wanted == 19 ? 0 : wanted;
      EXPECT_EQ(batch.samples[static_cast<std::size_t>(i)], expected);
    }
    loader.release(batch);
  }
  const SkipLog skipped = loader.skipped();
  EXPECT_EQ(skipped.count(), 3);
  EXPECT_EQ(skipped.counts().at("damaged"), 3);
  EXPECT_EQ(skipped.kept().size(), 3u);
}

TEST(Loader, NothingUsableIsAnErrorNotAnEndlessLoop) {
  NumberSet set(30);
  set.unusable = [](std::int64_t) { return true; };
  PlainAllocator allocator;
  Loader loader(set, BatchSchedule({30, 5, 1, 0, 1}), allocator, {3, 3});
  for (int again = 0; again < 2; ++again) {
    try {
      loader.next();
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kHost);
      EXPECT_THAT(error.what(), HasSubstr("numbers"));
      EXPECT_THAT(error.what(), HasSubstr("none of its 30 samples"));
      EXPECT_THAT(error.what(), HasSubstr("damaged"));
    }
  }
}

TEST(Loader, AThreadsExceptionComesOutOfNext) {
  NumberSet set(100);
  set.before_read = [](std::int64_t i) {
    if (i == 50) throw std::out_of_range("sample fifty");
  };
  PlainAllocator allocator;
  {
    Loader loader(set, BatchSchedule({100, 10, 1, 0, 1}), allocator, {4, 3});
    const auto drain = [&loader] {
      for (int step = 0; step < 10; ++step) loader.release(loader.next());
    };
    EXPECT_THROW(
        {
          try {
            drain();
          } catch (const std::out_of_range& error) {
            EXPECT_STREQ(error.what(), "sample fifty");
            throw;
          }
        },
        std::out_of_range);
    EXPECT_THROW(loader.next(), std::out_of_range);
  }
  EXPECT_EQ(allocator.live(), 0);
}

TEST(Loader, StopEndsWaitingThreadsAndAWaitingNext) {
  NumberSet set(100);
  std::atomic<bool> open{false};
  set.before_read = [&open](std::int64_t) { open.wait(false); };
  PlainAllocator allocator;
  Loader loader(set, BatchSchedule({100, 10, 1, 0, 1}), allocator, {2, 2});
  std::atomic<bool> refused{false};
  std::thread consumer([&] {
    try {
      loader.next();
    } catch (const Error&) {
      refused = true;
    }
  });
  std::thread opener([&open] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    open = true;
    open.notify_all();
  });
  const double start_s = steady_now_s();
  loader.stop();
  EXPECT_LT(steady_now_s() - start_s, 5);
  consumer.join();
  opener.join();
  EXPECT_TRUE(refused);
}

TEST(Loader, StopIsPromptWithAllSlotsFull) {
  const NumberSet set(1000);
  PlainAllocator allocator;
  for (int round = 0; round < 50; ++round) {
    Loader loader(set, BatchSchedule({1000, 10, 1, 0, 1}), allocator, {4, 2});
    if (round % 2 == 0) loader.release(loader.next());
    const double start_s = steady_now_s();
    loader.stop();
    EXPECT_LT(steady_now_s() - start_s, 5);
    loader.stop();  // again is nothing
    EXPECT_THROW(loader.next(), Error);
  }
  EXPECT_EQ(allocator.live(), 0);
}

TEST(Loader, EndsAfterItsSteps) {
  const NumberSet set(100);
  PlainAllocator allocator;
  Loader loader(set, BatchSchedule({100, 10, 1, 0, 1}), allocator, {3, 2, 0, 4});
  for (int step = 0; step < 4; ++step) loader.release(loader.next());
  EXPECT_THROW(loader.next(), Error);
  EXPECT_EQ(loader.stats().samples, 40);
}

TEST(Loader, StatsSayWhatWasDone) {
  NumberSet set(100);
  set.before_read = [](std::int64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  PlainAllocator allocator;
  Loader loader(set, BatchSchedule({100, 10, 1, 0, 1}), allocator, {2, 2, 0, 10});
  EXPECT_FALSE(LoaderStats().own_rate_samples_per_s().has_value());
  for (int step = 0; step < 5; ++step) loader.release(loader.next());
  const LoaderStats half = loader.stats();
  for (int step = 5; step < 10; ++step) loader.release(loader.next());
  const LoaderStats all = loader.stats();
  EXPECT_EQ(all.samples, 100);
  EXPECT_EQ(all.batches, 10);
  EXPECT_EQ(all.file_bytes, 1100);
  EXPECT_GE(all.busy_s, 0.2);
  EXPECT_GT(all.consumer_wait_s, 0.01);
  const auto rate = all.own_rate_samples_per_s();
  ASSERT_TRUE(rate.has_value());
  EXPECT_NEAR(*rate, 100 / all.busy_s * 2, 1e-6);
  EXPECT_LE(*rate, 1000);  // two threads, at least 2 ms a sample
  const LoaderStats window = all.since(half);
  EXPECT_EQ(window.batches, 5);
  EXPECT_EQ(window.samples, 100 - half.samples);
  EXPECT_EQ(window.threads, 2);
}

TEST(Loader, RefusesTooFewThreadsOrSlots) {
  const NumberSet set(10);
  PlainAllocator allocator;
  const BatchSchedule schedule({10, 2, 1, 0, 1});
  EXPECT_THROW(Loader(set, schedule, allocator, {0, 3}), Error);
  EXPECT_THROW(Loader(set, schedule, allocator, {1, 1}), Error);
  EXPECT_EQ(allocator.live(), 0);
}

TEST(Loader, MemoryThatCannotBeHadLeavesNothingBehind) {
  struct Short : PlainAllocator {
    std::byte* allocate(std::size_t bytes) override {
      if (live() == 2) throw std::bad_alloc();
      return PlainAllocator::allocate(bytes);
    }
  } allocator;
  const NumberSet set(10);
  EXPECT_THROW(Loader(set, BatchSchedule({10, 2, 1, 0, 1}), allocator, {1, 3}), std::bad_alloc);
  EXPECT_EQ(allocator.live(), 0);
}

std::int64_t resident_bytes() {
  long pages = 0;
  long resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
  std::fclose(file);
  return resident * 4096;
}

TEST(Loader, MemoryDoesNotGrow) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer keeps freed memory";
#endif
  const test::TemporaryFolder folder;
  test::write_picture_folder(folder.path(), 24);
  DatasetOptions options;
  options.path = folder.path();
  options.image_size = 64;
  const ImageFolder set(options);
  PlainAllocator allocator;
  Loader loader(set, BatchSchedule({24, 8, 1, 0, 1}), allocator, {2, 3});
  for (int step = 0; step < 60; ++step) loader.release(loader.next());
  const std::int64_t before = resident_bytes();
  for (int step = 0; step < 300; ++step) loader.release(loader.next());
  EXPECT_LT(resident_bytes() - before, 2 << 20);
}

}  // namespace
}  // namespace falcon::data
