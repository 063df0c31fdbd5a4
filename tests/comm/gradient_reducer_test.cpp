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

/// 16-bit gradients are added up in the wider type, and rounded once.
TEST(GradientReducer, ExchangesInAWiderType) {
  test::run_ranks(2, [](ProcessGroup& group) {
    const at::Tensor parameter = at::full({512}, 1.0, at::kBFloat16).set_requires_grad(true);
    GradientReducer reducer(group, {parameter},
                            {.bucket_bytes = kKib,
                             .first_bucket_bytes = kKib,
                             .exchanged_type = at::kFloat,
                             .on_gradients_computed = {}});
    for (int step = 0; step < 3; ++step) {
      parameter.mutable_grad().reset();
      reducer.before_forward();
      // 256 + 2 = 258, for which bf16 has no place, halved: 129
      const at::Tensor loss = parameter.sum() * (group.rank() == 0 ? 256.0 : 2.0);
      reducer.before_backward();
      loss.backward();
      EXPECT_EQ(parameter.grad().scalar_type(), at::kBFloat16);
      EXPECT_EQ(parameter.grad()[7].item<double>(), 129);
      EXPECT_EQ(reducer.last_pass().bytes, 512 * 4);
    }
    group.barrier();
  });
}

TEST(GradientReducer, AveragesCountsAndMarks) {
  test::run_ranks(4, [](ProcessGroup& group) {
    Net net;
    int marks = 0;
    GradientReducer reducer(group, net.parameters,
                            {.bucket_bytes = 8 * kKib,
                             .first_bucket_bytes = 4 * kKib,
                             .on_gradients_computed = [&] { ++marks; }});
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

/// Sums and halves of small numbers are exact in every type; a seventh is not.
void expect_exchanged_in(at::ScalarType type, double rounding) {
  test::run_ranks(2, [&](ProcessGroup& group) {
    Net net;
    GradientReducer reducer(group, net.parameters,
                            {.bucket_bytes = 8 * kKib,
                             .first_bucket_bytes = 4 * kKib,
                             .exchanged_type = type,
                             .on_gradients_computed = {}});
    for (const double factor : {1.0, 1.0 / 7}) {
      for (int step = 0; step < 3; ++step) {
        net.forget();
        reducer.before_forward();
        const at::Tensor loss = net.loss((group.rank() + 1.0) * factor);
        reducer.before_backward();
        loss.backward();
        const double got = net.parameters[0].grad()[7].item<double>();
        const double error = std::abs(got - 1.5 * factor);
        EXPECT_LE(error, factor == 1 ? 0 : 1.5 * rounding);
        EXPECT_EQ(error > 0, factor != 1) << "was it exchanged in a shorter type?";
      }
    }
    EXPECT_EQ(reducer.last_pass().bytes, 3 * 512 * 2);
    EXPECT_EQ(reducer.last_pass().calls, 2);
    group.barrier();
  });
}

TEST(GradientReducer, ExchangesInAShorterType) {
  expect_exchanged_in(at::kHalf, 1e-3);
  expect_exchanged_in(at::kBFloat16, 8e-3);
}

TEST(GradientReducer, WithoutExchangeEveryRankKeepsItsOwn) {
  test::run_ranks(2, [](ProcessGroup& group) {
    Net net;
    int marks = 0;
    GradientReducer reducer(group, net.parameters,
                            {.bucket_bytes = 8 * kKib,
                             .first_bucket_bytes = 4 * kKib,
                             .exchanges = false,
                             .on_gradients_computed = [&] { ++marks; }});
    for (int step = 0; step < 3; ++step) {
      net.forget();
      reducer.before_forward();
      const at::Tensor loss = net.loss(group.rank() + 1.0);
      reducer.before_backward();
      loss.backward();
      EXPECT_EQ(net.parameters[1].grad()[3].item<double>(), 2.0 * (group.rank() + 1));
      EXPECT_EQ(marks, step + 1);
    }
    EXPECT_EQ(reducer.last_pass().bytes, 0);
    EXPECT_EQ(reducer.last_pass().calls, 0);
    EXPECT_TRUE(reducer.busy_ms().empty());
  });
}

TEST(GradientReducer, BucketSizeDecidesTheNumberOfCalls) {
  test::run_ranks(2, [](ProcessGroup& group) {
    Net net;
    GradientReducer reducer(
        group, net.parameters,
        {.bucket_bytes = 1, .first_bucket_bytes = 1, .on_gradients_computed = {}});
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
