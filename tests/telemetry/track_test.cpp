#include "telemetry/track.h"

#include <gtest/gtest.h>

namespace falcon::telemetry {
namespace {

/// Feeds one metric as a lane does.
class Feed {
 public:
  explicit Feed(Metric metric) : track_(std::move(metric)) {}
  void value(double t_s, double value, double base = 0) { give(t_s, Reading::of(value, base)); }
  void none(double t_s, const std::string& reason) { give(t_s, Reading::none(reason)); }
  MetricResult result() const { return track_.result(window, before_s_); }
  const Track& track() const { return track_; }

  Window window;

 private:
  void give(double t_s, const Reading& reading) {
    track_.add(t_s, before_s_, reading, window);
    before_s_ = t_s;
  }
  Track track_;
  std::optional<double> before_s_;
};

Metric metric(MetricKind kind, double scale = 1) {
  return Metric{.name = "x", .kind = kind, .scale = scale};
}

TEST(Track, AGaugeStandsForTheTimeSinceTheReadingBefore) {
  Feed feed(metric(MetricKind::kGauge));
  feed.value(0, 1000);
  feed.value(1, 10);
  feed.value(4, 20);
  feed.window = {0, 4};
  const Summary summary = *feed.result().summary;
  EXPECT_DOUBLE_EQ(summary.mean, (10 * 1 + 20 * 3) / 4.0);
  EXPECT_DOUBLE_EQ(summary.min, 10);
  EXPECT_DOUBLE_EQ(summary.max, 20);
  EXPECT_EQ(summary.count, 2);
  EXPECT_DOUBLE_EQ(summary.covered_pct, 100);
  EXPECT_EQ(feed.result().total.reason, "not a counter");
}

TEST(Track, TheWindowCutsReadingsAtItsEnds) {
  Feed feed(metric(MetricKind::kGauge));
  for (int t = 0; t <= 10; ++t) feed.value(t, t);
  feed.window = {2.5, 4.25};
  const Summary summary = *feed.result().summary;
  EXPECT_DOUBLE_EQ(summary.mean, (3 * 0.5 + 4 * 1 + 5 * 0.25) / 1.75);
  EXPECT_EQ(summary.count, 3);
}

TEST(Track, ACounterGivesItsGrowthInTheWindow) {
  Feed feed(metric(MetricKind::kCounter, 0.5));
  feed.value(0, 100);
  feed.value(2, 140);
  feed.value(4, 240);
  feed.window = {1, 3};
  EXPECT_DOUBLE_EQ(feed.result().summary.value->mean, (10 + 25) / 2.0);
  EXPECT_DOUBLE_EQ(*feed.result().total, 35);
}

TEST(Track, ACounterBridgesReadingsThatFailed) {
  Feed feed(metric(MetricKind::kCounter));
  feed.value(0, 0);
  feed.none(1, "busy");
  feed.value(2, 30);
  feed.window = {0, 2};
  EXPECT_DOUBLE_EQ(*feed.result().total, 30);
  EXPECT_EQ(feed.result().summary.value->count, 1);
}

TEST(Track, ACounterThatBeginsAnewIsNotNegative) {
  Feed feed(metric(MetricKind::kCounter));
  feed.value(0, 1000);
  feed.value(1, 5);
  feed.window = {0, 1};
  EXPECT_EQ(feed.result().summary.reason, "the counter began anew");
  feed.value(2, 15);
  feed.window = {0, 2};
  EXPECT_DOUBLE_EQ(feed.result().summary.value->mean, 10);
  EXPECT_DOUBLE_EQ(feed.result().summary.value->covered_pct, 50);
  EXPECT_EQ(feed.result().total.reason, "readings cover only 50 % of the window");
}

TEST(Track, ARatioIsWeightedByItsBase) {
  Feed feed(metric(MetricKind::kRatio));
  feed.value(0, 0, 0);
  feed.value(1, 90, 9);    // 9 operations of 10 ms
  feed.value(2, 90, 9);    // none
  feed.value(3, 190, 10);  // 1 of 100 ms
  feed.window = {0, 3};
  EXPECT_DOUBLE_EQ(feed.result().summary.value->mean, 19);
  EXPECT_DOUBLE_EQ(feed.result().summary.value->max, 100);
  EXPECT_EQ(feed.result().summary.value->count, 2);
  EXPECT_DOUBLE_EQ(feed.result().summary.value->covered_pct, 100);
  feed.window = {1, 2};
  EXPECT_EQ(feed.result().summary.reason, "nothing happened in the window");
}

TEST(Track, AMeanStandsForTheTimeSinceTheValueBefore) {
  Feed feed(metric(MetricKind::kMean, 2));
  feed.value(0, 999);  // only a mark
  feed.value(1, 10);
  feed.none(2, "failed");
  feed.value(4, 20);
  feed.window = {0, 4};
  EXPECT_DOUBLE_EQ(feed.result().summary.value->mean, 2 * (10 * 1 + 20 * 3) / 4.0);
  EXPECT_DOUBLE_EQ(*feed.result().total, 2 * (10 * 1 + 20 * 3));
  EXPECT_DOUBLE_EQ(feed.result().summary.value->covered_pct, 100);
}

TEST(Track, CoverageCountsValuesNotCalls) {
  Feed feed(metric(MetricKind::kGauge));
  for (int t = 0; t <= 10; ++t) {
    if (t == 4) {
      feed.value(t, 1);
    } else {
      feed.none(t, "Not Supported");
    }
  }
  feed.window = {0, 10};
  EXPECT_EQ(feed.result().summary.value->count, 1);
  EXPECT_DOUBLE_EQ(feed.result().summary.value->covered_pct, 10);
}

TEST(Track, NoValueHasAReason) {
  Feed feed(metric(MetricKind::kGauge));
  EXPECT_EQ(feed.result().summary.reason, "the measured window did not begin");
  feed.window.begin_s = 0;
  EXPECT_EQ(feed.result().summary.reason, "no reading in the measured window");
  feed.none(1, "the last failure");
  EXPECT_EQ(feed.result().summary.reason, "the last failure");
  Metric unsupported = metric(MetricKind::kGauge);
  unsupported.missing = "code 3";
  EXPECT_EQ(Feed(unsupported).result().summary.reason, "code 3");
}

TEST(Track, AWindowWithoutAnEndGoesOnToTheNewestReading) {
  Feed feed(metric(MetricKind::kCounter));
  for (int t = 0; t <= 5; ++t) feed.value(t, 2 * t);
  feed.window.begin_s = 1;
  EXPECT_DOUBLE_EQ(*feed.result().total, 8);
}

TEST(Track, BeginAndEndMayBeToldLate) {
  Feed feed(metric(MetricKind::kCounter));
  for (double t = 0; t <= 200; t += 0.5) {
    if (t == 30) feed.window.begin_s = 5.25;
    feed.value(t, t * t);
    if (t == 180) feed.window.end_s = 160.75;
  }
  // Between readings half a second apart a square is taken as straight.
  EXPECT_NEAR(*feed.result().total, 160.75 * 160.75 - 5.25 * 5.25, 0.2);
  EXPECT_NEAR(feed.result().summary.value->covered_pct, 100, 1e-9);
}

TEST(Track, ABeginToldTooLateShowsInTheCoverage) {
  Feed feed(metric(MetricKind::kGauge));
  for (int t = 0; t <= 100; ++t) feed.value(t, 1);
  feed.window = {0, 100};
  EXPECT_NEAR(feed.result().summary.value->covered_pct, 31, 1);
}

TEST(Track, RoomIsBoundedByTime) {
  Feed feed(metric(MetricKind::kGauge));
  feed.window.begin_s = 0;
  for (int i = 0; i <= 500000; ++i) feed.value(0.02 * i, i % 2);
  EXPECT_NEAR(feed.result().summary.value->mean, 0.5, 1e-6);
  EXPECT_EQ(feed.result().summary.value->count, 500000);
  EXPECT_LE(feed.track().series().points().size(), 3000U);
}

}  // namespace
}  // namespace falcon::telemetry
