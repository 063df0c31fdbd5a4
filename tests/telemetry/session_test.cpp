#include "telemetry/session.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include <gtest/gtest.h>

namespace falcon::telemetry {
namespace {

/// One gauge named "x", whose readings come from a function.
class ScriptedSampler : public Sampler {
 public:
  struct Step {
    double value = 0;
    std::string stop;
  };
  ScriptedSampler(const std::string& scope, const std::string& lane, std::function<Step()> next)
      : Sampler("scripted", scope, lane), next_(std::move(next)) {}
  std::span<const Metric> metrics() const override { return metrics_; }
  std::string read(std::span<Reading> out) override {
    const Step step = next_();
    out[0] = Reading::of(step.value);
    return step.stop;
  }
  double period_s() const override { return least_s; }
  void prepare() override { on_prepare(); }
  double least_s = 0;
  std::function<void()> on_prepare = [] {};
  void place(std::span<const MetricResult> results, Telemetry& out) const override {
    GpuTelemetry& gpu = out.utilization.gpus.emplace_back();
    gpu.uuid = scope();
    gpu.power_w = results[0].summary;
  }

 private:
  std::vector<Metric> metrics_ = {Metric{.name = "x"}};
  std::function<Step()> next_;
};

std::vector<std::unique_ptr<Sampler>> one(std::function<ScriptedSampler::Step()> next) {
  std::vector<std::unique_ptr<Sampler>> samplers;
  samplers.push_back(std::make_unique<ScriptedSampler>("g", "l", std::move(next)));
  return samplers;
}

void sleep_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

TEST(Session, TicksWithoutThreadsUnderAnInjectedClock) {
  double now_s = 100;
  double value = 0;
  Session session(one([&] {
                    return ScriptedSampler::Step{value, ""};
                  }),
                  {.interval_ms = 1000, .series = true, .clock = [&] { return now_s; }});
  for (int i = 0; i <= 10; ++i) {
    now_s = 100 + i;
    value = i;
    session.tick();
  }
  session.begin_window(102.5);
  session.end_window(104);
  session.stop();
  const Telemetry telemetry = session.result();
  EXPECT_DOUBLE_EQ(*telemetry.utilization.window_s, 1.5);
  EXPECT_DOUBLE_EQ(telemetry.utilization.gpus.at(0).power_w.value->mean, (3 * 0.5 + 4) / 1.5);
  const SourceTelemetry& source = telemetry.utilization.sources.at(0);
  EXPECT_EQ(source.reads, 11);
  EXPECT_DOUBLE_EQ(*source.interval_ms, 1000);
  EXPECT_DOUBLE_EQ(*source.interval_max_ms, 1000);
  const Series& series = telemetry.series.at("g/x");
  ASSERT_EQ(series.values.size(), 10U);
  EXPECT_DOUBLE_EQ(series.t_s[2], 3);
  EXPECT_DOUBLE_EQ(series.values[2], 3);
  EXPECT_TRUE(series.min.empty());
}

TEST(Session, SeriesCanBeLeftOut) {
  double now_s = 0;
  Session session(one([] { return ScriptedSampler::Step{}; }),
                  {.interval_ms = 100, .series = false, .clock = [&] { return now_s; }});
  for (; now_s < 5; ++now_s) session.tick();
  EXPECT_TRUE(session.result().series.empty());
}

TEST(Session, ALongSeriesIsThinnedAndTheSummaryIsNot) {
  double now_s = 0;
  Session session(one([&] {
                    return ScriptedSampler::Step{now_s == 1234 ? 1e6 : 1, ""};
                  }),
                  {.interval_ms = 1000, .series = true, .clock = [&] { return now_s; }});
  session.begin_window(0);
  for (; now_s <= 10000; ++now_s) session.tick();
  session.end_window(10000);
  const Telemetry telemetry = session.result();
  EXPECT_DOUBLE_EQ(telemetry.utilization.gpus.at(0).power_w.value->max, 1e6);
  EXPECT_DOUBLE_EQ(telemetry.utilization.gpus.at(0).power_w.value->mean, (9999 + 1e6) / 10000);
  const Series& series = telemetry.series.at("g/x");
  EXPECT_EQ(series.values.size(), 2500U);
  EXPECT_EQ(series.max.size(), 2500U);
  EXPECT_DOUBLE_EQ(*std::max_element(series.max.begin(), series.max.end()), 1e6);
}

TEST(Session, ASourceThatIsLostIsReportedAndNotReadAgain) {
  double now_s = 0;
  int reads = 0;
  Session session(one([&] {
                    ++reads;
                    return ScriptedSampler::Step{1, reads == 3 ? "the GPU is lost" : ""};
                  }),
                  {.interval_ms = 100, .series = true, .clock = [&] { return now_s; }});
  for (; now_s < 2; ++now_s) session.tick();
  EXPECT_FALSE(session.lost().has_value());
  for (; now_s < 10; ++now_s) session.tick();
  EXPECT_EQ(reads, 3);
  ASSERT_TRUE(session.lost().has_value());
  EXPECT_EQ(session.lost()->scope, "g");
  EXPECT_EQ(session.lost()->reason, "the GPU is lost");
  EXPECT_DOUBLE_EQ(session.lost()->at_s, 2);
  EXPECT_EQ(session.result().utilization.sources.at(0).stopped, "the GPU is lost");
}

TEST(Session, ThreadsKeepThePeriodAndStopPromptly) {
  std::vector<std::unique_ptr<Sampler>> samplers;
  samplers.push_back(std::make_unique<ScriptedSampler>("fast", "a", [] {
    return ScriptedSampler::Step{1, ""};
  }));
  // Blocks as the PCIe calls do; has a lane of its own, so the other one keeps its period.
  samplers.push_back(std::make_unique<ScriptedSampler>("slow", "b", [] {
    sleep_ms(60);
    return ScriptedSampler::Step{2, ""};
  }));
  Session session(std::move(samplers), {.interval_ms = 20});
  const double began_s = steady_now_s();
  session.begin_window(began_s);
  session.start();
  sleep_ms(600);
  session.end_window(steady_now_s());
  const double stopping_s = steady_now_s();
  session.stop();
  EXPECT_LT(steady_now_s() - stopping_s, 0.5);
  const Telemetry telemetry = session.result();
  const SourceTelemetry& fast = telemetry.utilization.sources.at(0);
  const SourceTelemetry& slow = telemetry.utilization.sources.at(1);
  EXPECT_GT(fast.reads, 10);
  EXPECT_LE(fast.reads, 33);
  EXPECT_LT(slow.reads, 12);
  EXPECT_GT(slow.late, 5);
  EXPECT_GT(slow.read_ms, 59);
  EXPECT_GT(telemetry.utilization.gpus.at(0).power_w.value->covered_pct, 85);
  EXPECT_LT(telemetry.utilization.cost_cpu_s, 0.2);
  EXPECT_GT(telemetry.utilization.cost_cpu_s, 0);
}

TEST(Session, ASlowSourceKeepsItsOwnPeriodBesideAFastOne) {
  std::vector<std::unique_ptr<Sampler>> samplers;
  const auto next = [] { return ScriptedSampler::Step{1, ""}; };
  auto slow = std::make_unique<ScriptedSampler>("slow", "lane", next);
  slow->least_s = 0.3;
  samplers.push_back(std::make_unique<ScriptedSampler>("fast", "lane", next));
  samplers.push_back(std::move(slow));
  Session session(std::move(samplers), {.interval_ms = 50});
  session.begin_window(steady_now_s());
  session.start();
  sleep_ms(1000);
  session.end_window(steady_now_s());
  session.stop();
  const auto sources = session.result().utilization.sources;
  EXPECT_GT(sources.at(0).reads, 2 * sources.at(1).reads);
  EXPECT_GE(sources.at(1).reads, 2);
  EXPECT_LE(sources.at(1).reads, 5);
  EXPECT_GT(*sources.at(1).interval_ms, 200);
  EXPECT_GT(session.result().utilization.gpus.at(1).power_w.value->covered_pct, 85);
}

TEST(Session, WhatIsPreparedForLongHoldsUpOnlyItsOwnLane) {
  const auto next = [] { return ScriptedSampler::Step{1, ""}; };
  std::vector<std::unique_ptr<Sampler>> samplers;
  auto slow = std::make_unique<ScriptedSampler>("slow", "a", next);
  slow->on_prepare = [] { sleep_ms(400); };
  samplers.push_back(std::move(slow));
  samplers.push_back(std::make_unique<ScriptedSampler>("fast", "b", next));
  Session session(std::move(samplers), {.interval_ms = 20});
  const double began_s = steady_now_s();
  session.begin_window(began_s);
  session.start();
  EXPECT_LT(steady_now_s() - began_s, 0.3);
  sleep_ms(200);
  EXPECT_EQ(session.result().utilization.sources.at(0).reads, 0);
  sleep_ms(500);
  session.stop();
  const auto sources = session.result().utilization.sources;
  EXPECT_GT(sources.at(0).reads, 0);
  EXPECT_GT(sources.at(1).reads, sources.at(0).reads);
}

TEST(Session, TheEndOfTheWindowIsReadAtOnce) {
  Session session(one([] { return ScriptedSampler::Step{1, ""}; }), {.interval_ms = 60000});
  session.begin_window(steady_now_s());
  session.start();
  sleep_ms(100);
  session.end_window(steady_now_s());
  session.stop();
  const Telemetry telemetry = session.result();
  EXPECT_EQ(telemetry.utilization.sources.at(0).reads, 2);
  EXPECT_GT(telemetry.utilization.gpus.at(0).power_w.value->covered_pct, 50);
}

TEST(Session, AReaderThatHangsInTheDriverDoesNotHoldTheRun) {
  const auto released = std::make_shared<std::atomic<bool>>(false);
  const auto left = std::make_shared<std::atomic<bool>>(false);
  {
    Session session(one([released, left] {
                      while (!*released) sleep_ms(5);
                      *left = true;
                      return ScriptedSampler::Step{1, ""};
                    }),
                    {.interval_ms = 20});
    session.begin_window(steady_now_s());
    session.start();
    sleep_ms(50);
    const double stopping_s = steady_now_s();
    session.stop();
    EXPECT_LT(steady_now_s() - stopping_s, 2.5);
    EXPECT_EQ(session.result().utilization.gpus.at(0).power_w.reason,
              "no reading in the measured window");
  }
  *released = true;
  while (!*left) sleep_ms(5);
  sleep_ms(50);
}

TEST(Session, SignalsStayWithTheCallersThread) {
  std::atomic<bool> is_blocked = false;
  Session session(one([&is_blocked] {
                    sigset_t mask;
                    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
                    is_blocked =
                        sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGTERM) == 1;
                    return ScriptedSampler::Step{};
                  }),
                  {.interval_ms = 20});
  session.start();
  sleep_ms(60);
  session.stop();
  EXPECT_TRUE(is_blocked);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGINT), 0);
}

TEST(Session, WithoutSamplersThereIsNothingToReport) {
  Session session({}, {.interval_ms = 20});
  session.start();
  session.begin_window(steady_now_s());
  session.stop();
  EXPECT_TRUE(session.result().utilization.sources.empty());
  EXPECT_EQ(session.result().utilization.window_s.reason, "the measured window did not end");
}

}  // namespace
}  // namespace falcon::telemetry
