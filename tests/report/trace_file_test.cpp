#include "report/trace_file.h"

#include <map>

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "made_run.h"

namespace falcon::report {
namespace {

/// A step of 10 ms from begin_s on, with one kernel in it.
TraceRecord made_trace(double begin_s) {
  TraceRecord trace;
  trace.steps = 1;
  trace.begin_s = begin_s;
  trace.end_s = begin_s + 0.01;
  trace.tracks = {"steps", "GPU stream 7"};
  trace.names = {"step 45", "kernel<\"quoted\">"};
  trace.track = {0, 1};
  trace.name = {0, 1};
  trace.begin_us = {0, 2000.5};
  trace.duration_us = {10000, 7000};
  trace.gpu_busy_pct = 70;
  return trace;
}

TEST(TraceFile, RanksStandOnOneTimeline) {
  MadeRun run;
  run.records(0).trace = made_trace(200.002);
  run.records(1).trace = made_trace(200);
  const base::Value file = base::parse_json(trace_text(run.plan, run.log), "trace");
  std::map<std::int64_t, double> kernel_us;
  std::size_t labels = 0;
  for (const base::Value& event : file.find("traceEvents")->as_list()) {
    if (event.find("ph")->as_text() == "M") {
      ++labels;
    } else if (event.find("name")->as_text() == "kernel<\"quoted\">") {
      EXPECT_EQ(event.find("tid")->as_integer(), 1);
      EXPECT_DOUBLE_EQ(event.find("dur")->as_number(), 7000);
      kernel_us[event.find("pid")->as_integer()] = event.find("ts")->as_number();
    }
  }
  EXPECT_EQ(labels, 6U);
  ASSERT_EQ(kernel_us.size(), 2U);
  EXPECT_NEAR(kernel_us[1], 2000.5, 1e-3);
  EXPECT_NEAR(kernel_us[0], 4000.5, 1e-3);
}

TEST(TraceFile, StandsBesideTheReportWhichSaysWhatItHolds) {
  MadeRun run;
  run.plan.spec.trace.steps = 1;
  run.records(0).trace = made_trace(200);
  run.records(1).trace = made_trace(200);
  run.records(1).trace.value->gpu_busy_pct = 90;
  const std::string path = testing::TempDir() + "trace_file_test.json";
  run.circumstances.trace_file = write_trace(path, run.plan, run.log);
  ASSERT_TRUE(run.circumstances.trace_file.has_value());
  EXPECT_EQ(*run.circumstances.trace_file, testing::TempDir() + "trace_file_test.trace");
  EXPECT_EQ(base::read_file(*run.circumstances.trace_file), trace_text(run.plan, run.log));
  const Report report = run.report();
  ASSERT_TRUE(report.training.trace.has_value());
  EXPECT_EQ(report.training.trace.value->steps, 1);
  EXPECT_NEAR(report.training.trace.value->step_ms, 10, 1e-9);
  EXPECT_EQ(report.training.trace.value->events, 4);
  EXPECT_DOUBLE_EQ(*report.training.trace.value->gpu_busy_pct, 80);
}

TEST(TraceFile, MissingSaysWhy) {
  MadeRun run;
  EXPECT_EQ(write_trace("/nowhere/r.json", run.plan, run.log).reason, run.records(0).trace.reason);
  run.records(0).trace = made_trace(200);
  run.circumstances.trace_file = write_trace("/nowhere/r.json", run.plan, run.log);
  EXPECT_NE(run.circumstances.trace_file.reason.find("/nowhere/r.trace"), std::string::npos);
  EXPECT_EQ(run.report().training.trace.reason, run.circumstances.trace_file.reason);
  run.records(0).trace.value->gpu_busy_pct = Measured<double>::missing("no CUPTI");
  run.circumstances.trace_file = std::string("r.trace");
  EXPECT_EQ(run.report().training.trace.value->gpu_busy_pct.reason, "no CUPTI");
}

}  // namespace
}  // namespace falcon::report
