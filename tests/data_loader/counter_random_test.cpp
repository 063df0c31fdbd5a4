#include "base/counter_random.h"

#include <algorithm>
#include <array>
#include <set>

#include <gtest/gtest.h>

namespace falcon::base {
namespace {

TEST(CounterRandom, NumbersDoNotChangeFromReleaseToRelease) {
  // SplitMix64 of state 0 and of 42: the published test values of the generator.
  EXPECT_EQ(mix64(kGoldenRatio64), 0xE220A8397B1DCDAFULL);
  EXPECT_EQ(mix64(2 * kGoldenRatio64), 0x6E789E6AA1B965F4ULL);
}

TEST(CounterRandom, NextIsTheCounterAtWork) {
  CounterRandom stream({1, 2, 3});
  const CounterRandom same({1, 2, 3});
  for (std::uint64_t n = 0; n < 100; ++n) EXPECT_EQ(stream.next(), same.at(n));
}

TEST(CounterRandom, EveryKeyPartAndTheirOrderMatter) {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t a = 0; a < 20; ++a) {
    for (std::uint64_t b = 0; b < 20; ++b) firsts.insert(CounterRandom({a, b}).at(0));
  }
  EXPECT_EQ(firsts.size(), 400u);
  EXPECT_NE(CounterRandom({0}).at(0), CounterRandom({0, 0}).at(0));
}

TEST(CounterRandom, UniformFillsItsRange) {
  CounterRandom random({7});
  double sum = 0;
  double low = 1;
  double high = 0;
  constexpr int kCount = 100'000;
  for (int i = 0; i < kCount; ++i) {
    const double u = random.uniform();
    sum += u;
    low = std::min(low, u);
    high = std::max(high, u);
  }
  EXPECT_GE(low, 0.0);
  EXPECT_LT(high, 1.0);
  EXPECT_LT(low, 1e-3);
  EXPECT_GT(high, 1 - 1e-3);
  EXPECT_NEAR(sum / kCount, 0.5, 0.005);  // 5 standard errors
}

TEST(CounterRandom, BelowIsEven) {
  CounterRandom random({8});
  std::array<int, 7> counts{};
  constexpr int kCount = 70'000;
  for (int i = 0; i < kCount; ++i) ++counts.at(random.below(counts.size()));
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
  EXPECT_EQ(random.below(1), 0u);
}

}  // namespace
}  // namespace falcon::base
