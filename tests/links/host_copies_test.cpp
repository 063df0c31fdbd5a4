#include "links/host_copies.h"

#include <set>

#include <gtest/gtest.h>

#include "links/host_pattern.h"
#include "links/load_ring.h"
#include "links/windows.h"

namespace falcon::links {
namespace {

TEST(HostPattern, TellsOneWrongWordAndAnyOtherSeed) {
  std::vector<std::uint64_t> words(1000);
  fill_words(words.data(), 1000, 7);
  EXPECT_TRUE(are_words(words.data(), 1000, 7));
  EXPECT_FALSE(are_words(words.data(), 1000, 8));
  EXPECT_FALSE(are_words(words.data(), 1, ~std::uint64_t{7}));
  EXPECT_FALSE(are_words(words.data() + 1, 999, 7)) << "one word off its place";
  words[999] ^= 1;
  EXPECT_FALSE(are_words(words.data(), 1000, 7));
}

TEST(LoadRing, LeadsThroughEveryPlaceOnce) {
  const std::vector<std::uint64_t> ring = make_load_ring();
  ASSERT_EQ(static_cast<std::int64_t>(ring.size() * 8), kLoadRingBytes);
  const std::int64_t places = kLoadRingBytes / 128;
  std::set<std::uint64_t> seen;
  std::uint64_t at = 0;
  for (std::int64_t i = 0; i < places; ++i) {
    EXPECT_EQ(at % 16, 0U);
    seen.insert(at);
    at = ring[at];
  }
  EXPECT_EQ(at, 0U);
  EXPECT_EQ(static_cast<std::int64_t>(seen.size()), places);
  EXPECT_EQ(end_of_walk(ring, places + 1), ring[0]);
}

TEST(Windows, HoldAsManyRepeatsAsFit) {
  EXPECT_EQ(repeats_for(0.001, 0.005, 100), 5);
  EXPECT_EQ(repeats_for(0.0011, 0.005, 100), 5);
  EXPECT_EQ(repeats_for(1, 0.005, 100), kMinRepeats);
  EXPECT_EQ(repeats_for(1e-9, 0.005, 100), 100);
  EXPECT_EQ(repeats_for(0, 0.005, 100), 100);
}

TEST(HostCopies, TimeEveryWindowOfEverySize) {
  CopyTask task{{LinkFlow{}}, "memcpy", false, {16, 4096, 1 << 20}};
  LinkWork work;
  work.windows = 5;
  work.window_s = 0.001;
  int sizes = 0;
  const LinkResult result = measure_host_copies(task, work, [&sizes] { ++sizes; });
  EXPECT_EQ(sizes, 3);
  EXPECT_EQ(result.error, "");
  ASSERT_EQ(result.by_size.size(), 3U);
  for (const LinkWindows& windows : result.by_size) {
    EXPECT_TRUE(windows.contents_match);
    ASSERT_EQ(windows.seconds.size(), 5U);
    ASSERT_EQ(windows.flow_seconds.size(), 1U);
    EXPECT_EQ(windows.flow_seconds.front(), windows.seconds);
    for (const double time_s : windows.seconds) {
      const double bytes_per_s = static_cast<double>(windows.size_bytes * windows.repeats) / time_s;
      EXPECT_GT(bytes_per_s, 1e6) << windows.size_bytes;
      EXPECT_LT(bytes_per_s, 1e13) << windows.size_bytes;
    }
  }
}

}  // namespace
}  // namespace falcon::links
