// The operands of collectives against the collectives themselves, with Gloo between threads.
#include "links/collective_buffer.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <falconbench/errors.h>

#include "comm/ranks.h"
#include "links/collectives.h"

namespace falcon::links {
namespace {

const std::vector<std::string> kOperations = {"all_reduce", "all_gather", "reduce_scatter",
                                              "broadcast"};

/// A group whose all_reduce and so on can be left out, to see that a missing one is noticed.
class CollectiveBuffers : public testing::TestWithParam<int> {};

TEST_P(CollectiveBuffers, AreRightAfterTheirCollectivesAndWrongBefore) {
  test::run_ranks(GetParam(), [](comm::ProcessGroup& group) {
    for (const std::string& operation : kOperations) {
      // less than a period of the contents, and several with a rest
      for (const std::int64_t bytes : {std::int64_t{64}, std::int64_t{1} << 20}) {
        const auto buffer = make_collective_buffer(operation, group, bytes, at::kFloat);
        EXPECT_LE(buffer->bytes(), bytes);
        EXPECT_GT(buffer->bytes(), bytes / 2);
        buffer->fill(3);
        const bool is_root = operation == "broadcast" && group.rank() == 0;
        EXPECT_EQ(buffer->is_right(3, 1), is_root) << operation << " before it is called";
        for (int calls = 1; calls <= 5; ++calls) {
          buffer->call();
          EXPECT_TRUE(buffer->is_right(3, calls)) << operation << " call " << calls;
        }
        EXPECT_FALSE(buffer->is_right(4, 5)) << operation << " of another seed";
        if (operation == "all_reduce") {
          EXPECT_FALSE(buffer->is_right(3, 4)) << "a call more than was told";
        }
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, CollectiveBuffers, testing::Values(2, 3));

TEST(CollectiveBuffer, RefusesAnOperationThatIsNone) {
  test::run_ranks(1, [](comm::ProcessGroup& group) {
    try {
      make_collective_buffer("all_to_all", group, 64, at::kFloat);
      FAIL() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
    }
  });
}

TEST(Collectives, AreTimedWithTheSameCallsOnEveryRank) {
  std::array<LinkResult, 2> results;
  test::run_ranks(2, [&results](comm::ProcessGroup& group) {
    LinkWork work;
    work.windows = 5;
    work.window_s = 0.002;
    int sizes = 0;
    results[static_cast<std::size_t>(group.rank())] =
        measure_collective(group, {"all_reduce", {1024, 1 << 18}}, work, [&sizes] { ++sizes; });
    EXPECT_EQ(sizes, 2);
    EXPECT_EQ(collective_data_type(group), "float32");
  });
  for (const LinkResult& result : results) {
    ASSERT_EQ(result.by_size.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      const LinkWindows& windows = result.by_size[i];
      EXPECT_EQ(windows.seconds.size(), 5U);
      EXPECT_TRUE(windows.contents_match);
      EXPECT_EQ(windows.repeats, results[0].by_size[i].repeats);
      EXPECT_GE(windows.repeats, 2);
    }
  }
}

}  // namespace
}  // namespace falcon::links
