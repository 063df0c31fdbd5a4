#include "comm/process_group.h"

#include <atomic>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "comm/ranks.h"

namespace falcon::comm {
namespace {

constexpr int kWorld = 3;

double value_of(const at::Tensor& tensor) {
  return tensor.max().item<double>();
}

TEST(ProcessGroup, ReducesSumAverageAndMaximum) {
  test::run_ranks(kWorld, [](ProcessGroup& group) {
    ASSERT_EQ(group.world(), kWorld);
    const auto mine = [&] { return at::full({4}, group.rank() + 1.0, at::kDouble); };
    at::Tensor sum = mine();
    at::Tensor average = mine();
    at::Tensor maximum = mine();
    group.all_reduce(sum, Reduction::kSum);
    group.all_reduce(average, Reduction::kAverage);
    group.all_reduce(maximum, Reduction::kMaximum);
    EXPECT_EQ(value_of(sum), 6);
    EXPECT_NEAR(value_of(average), 2, 1e-15);
    EXPECT_EQ(value_of(maximum), 3);
  });
}

TEST(ProcessGroup, BroadcastsAnyTypesAndLayoutsFromTheRoot) {
  test::run_ranks(kWorld, [](ProcessGroup& group) {
    const double own = group.rank();
    at::Tensor one = at::full({2, 2}, own, at::kFloat);
    group.broadcast(one, 1);
    EXPECT_EQ(value_of(one), 1);
    std::vector<at::Tensor> tensors{at::full({5}, own, at::kDouble), at::full({}, own, at::kLong),
                                    (at::arange(2 * 3 * 4 * 4, at::kFloat).view({2, 3, 4, 4}) * own)
                                        .contiguous(at::MemoryFormat::ChannelsLast)};
    group.broadcast_all(tensors, 2);
    EXPECT_EQ(value_of(tensors[0]), 2);
    EXPECT_EQ(value_of(tensors[1]), 2);
    EXPECT_EQ(tensors[2][1][2][3][3].item<float>(), 95 * 2);
    EXPECT_TRUE(tensors[2].is_contiguous(at::MemoryFormat::ChannelsLast));
  });
}

TEST(ProcessGroup, StoreHandsKeysFromRankToRank) {
  test::run_ranks(2, [](ProcessGroup& group) {
    if (group.rank() == 1) group.set("colour", "green");
    EXPECT_EQ(group.get("colour"), "green");
    group.barrier();
    if (group.rank() == 0) group.remove("colour");
    group.barrier();
    group.set("colour" + std::to_string(group.rank()), "");
    EXPECT_EQ(group.get("colour0"), "");
  });
}

TEST(ProcessGroup, DifferentParametersAreNoticed) {
  std::atomic<int> noticed{0};
  test::run_ranks(2, [&](ProcessGroup& group) {
    const std::vector<at::Tensor> parameters{at::full({group.rank() == 0 ? 3 : 4}, 1.0)};
    try {
      group.check_same_layout(parameters);
    } catch (const std::exception&) {
      noticed += 1;
    }
  });
  EXPECT_GE(noticed, 1);
}

TEST(ProcessGroup, AnAbsentRankIsAnErrorInTime) {
  Rendezvous meeting;
  meeting.rank = 1;
  meeting.world = 2;
  meeting.port = 1;  // nobody serves there
  meeting.timeout_s = 0.5;
  EXPECT_THROW(ProcessGroup(Backend::kGloo, meeting, at::kCPU), std::exception);
}

}  // namespace
}  // namespace falcon::comm
