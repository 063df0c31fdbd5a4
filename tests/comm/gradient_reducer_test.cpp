#include "comm/gradient_reducer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "comm/ranks.h"

namespace falcon::comm {
namespace {

constexpr std::int64_t kKib = 1024;

struct Net {
  // 3 parameters of 4 KiB each
  std::vector<at::Tensor> parameters;
  Net() {
    for (int i = 0; i < 3; ++i) {
      parameters.push_back(at::full({512}, 1.0, at::kDouble).set_requires_grad(true));
    }
  }
  void forget() {
    for (at::Tensor& parameter : parameters) parameter.mutable_grad().reset();
  }
  at::Tensor loss(double factor) const {
    at::Tensor sum = parameters[0].sum() * factor;
    sum = sum + parameters[1].sum() * (2 * factor);
    return sum + parameters[2].sum() * (3 * factor);
  }
};

TEST(GradientReducer, AveragesCountsAndMarks) {
  test::run_ranks(4, [](ProcessGroup& group) {
    Net net;
    int marks = 0;
    GradientReducer reducer(group, net.parameters, {8 * kKib, 4 * kKib, [&] { ++marks; }});
    for (int step = 0; step < 4; ++step) {
      net.forget();
      reducer.before_forward();
      const at::Tensor loss = net.loss(group.rank() + 1.0);
      reducer.before_backward();
      loss.backward();
      EXPECT_EQ(marks, step + 1);
      for (int i = 0; i < 3; ++i) {
        EXPECT_NEAR(net.parameters[static_cast<std::size_t>(i)].grad()[7].item<double>(),
                    2.5 * (i + 1), 1e-15);
      }
      EXPECT_EQ(reducer.last_pass().bytes, 3 * 512 * 8);
      EXPECT_EQ(reducer.last_pass().calls, 2);  // 4 KiB, then the other two
    }
    group.barrier();  // behind the last reduction
    ASSERT_EQ(reducer.busy_ms().size(), 4U);
    for (const double busy_ms : reducer.busy_ms()) EXPECT_GT(busy_ms, 0);
  });
}

TEST(GradientReducer, BucketSizeDecidesTheNumberOfCalls) {
  test::run_ranks(2, [](ProcessGroup& group) {
    Net net;
    GradientReducer reducer(group, net.parameters, {1, 1, nullptr});
    for (int step = 0; step < 2; ++step) {
      net.forget();
      reducer.before_forward();
      const at::Tensor loss = net.loss(1);
      reducer.before_backward();
      loss.backward();
    }
    EXPECT_EQ(reducer.last_pass().calls, 3);
  });
}

}  // namespace
}  // namespace falcon::comm
