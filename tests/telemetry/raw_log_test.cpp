#include "telemetry/raw_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "fake_machine.h"

namespace falcon::telemetry {
namespace {

using base::Value;
using testing::HasSubstr;

std::vector<Value> lines_of(const std::string& path) {
  std::vector<Value> lines;
  for (const std::string& line : base::split(base::read_file(path), '\n')) {
    if (!line.empty()) lines.push_back(base::parse_json(line, path));
  }
  return lines;
}

std::vector<Value> lines_of(FakeMachine& machine, const std::string& metric) {
  machine.raw_file = machine.root.path() + "/raw.jsonl";
  machine.begin();
  machine.run({0.5, 1});
  machine.stop();
  EXPECT_EQ(*machine.result().utilization.raw_file, machine.raw_file);
  std::vector<Value> found;
  for (Value& line : lines_of(machine.raw_file)) {
    if (line.find("metric")->as_text() == metric) found.push_back(std::move(line));
  }
  return found;
}

TEST(RawLog, EveryReadingAsItWasReadOneALine) {
  FakeMachine machine;
  const std::vector<Value> lines = lines_of(machine, "memory_used_bytes");
  std::vector<std::string> seen;
  for (const Value& line : lines) {
    if (line.find("scope")->as_text() != "GPU-a") continue;
    seen.push_back(base::to_json(line));
  }
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[1], R"({"t_s":1.0,"sampler":"nvml","scope":"GPU-a","metric":"memory_used_bytes",)"
                     R"("kind":"gauge","value":500000000.0,"scale":1.0})");
}

TEST(RawLog, CountersStandAsTheyStood) {
  FakeMachine machine;
  const std::vector<Value> lines = lines_of(machine, "energy_j");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[2].find("kind")->as_text(), "counter");
  EXPECT_DOUBLE_EQ(lines[2].find("value")->as_number(), 300000);
  EXPECT_DOUBLE_EQ(lines[2].find("scale")->as_number(), 1e-3);
}

TEST(RawLog, RatiosHaveTheirBase) {
  FakeMachine machine;
  const std::vector<Value> lines = lines_of(machine, "read_latency_ms");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_DOUBLE_EQ(lines[2].find("value")->as_number(), 450);
  EXPECT_DOUBLE_EQ(lines[2].find("base")->as_number(), 150);
}

TEST(RawLog, AReadingThatFailedHasItsReason) {
  FakeMachine machine;
  machine.board_extras = R"(, "codes": {"nvmlDeviceGetUtilizationRates": 10})";
  const std::vector<Value> lines = lines_of(machine, "gpu_busy_pct");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].find("value")->is_null());
  EXPECT_THAT(lines[0].find("value_reason")->as_text(), HasSubstr("NVML code 10"));
}

TEST(RawLog, AFileThatCannotBeWrittenCostsTheRunNothing) {
  for (const char* place : {"/nowhere/raw.jsonl", "/dev/full"}) {
    FakeMachine machine;
    machine.raw_file = place;
    machine.begin();
    machine.run({0.5, 1});
    machine.stop();
    EXPECT_THAT(machine.result().utilization.raw_file.reason, HasSubstr(place));
    EXPECT_TRUE(machine.result().utilization.host.cpu_pct.has_value());
  }
}

TEST(RawLog, IsOffUnlessAskedFor) {
  FakeMachine machine;
  machine.begin();
  EXPECT_EQ(machine.result().utilization.raw_file.reason, "not asked for (telemetry.raw)");
}

}  // namespace
}  // namespace falcon::telemetry
