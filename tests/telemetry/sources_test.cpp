// Every source of telemetry is taken away in turn: what came from it is null with a reason, all
// else stays.
#include <gtest/gtest.h>

#include "base/codec.h"
#include "base/json.h"
#include "fake_machine.h"

namespace falcon::telemetry {
namespace {

using base::Value;

struct Source {
  const char* path;
  std::vector<const char*> fields;  // of utilization.host
  const char* reason;
};

const std::vector<Source>& sources() {
  static const std::vector<Source> kSources = {
      {"proc/stat",
       {"cpu_pct", "cpu_iowait_pct", "cpu_steal_pct", "cpu_cores", "run_queue"},
       "/proc/stat: No such file or directory"},
      {"proc/loadavg", {"load_average"}, "/proc/loadavg: No such file or directory"},
      {"proc/net/dev", {"network"}, "/proc/net/dev: No such file or directory"},
      {"sys/fs/cgroup", {"cpu_throttled_s"}, "no control group files are visible"},
      {"proc/meminfo",
       {"memory_used_bytes", "memory_available_bytes"},
       "/proc/meminfo: No such file or directory"},
      {"proc/vmstat",
       {"page_faults_per_s", "major_page_faults_per_s"},
       "/proc/vmstat: No such file or directory"},
      {"proc/diskstats", {"disks"}, "/proc/diskstats: No such file or directory"},
      {"sys/block", {"disks"}, "there is no /sys/block"},
      {"proc/77/stat",
       {"processes_cpu_s", "processes_rss_peak_bytes"},
       "/proc/77/stat: No such file or directory"},
  };
  return kSources;
}

Value host_of(const FakeMachine& machine) {
  return base::to_value(machine.result().utilization.host);
}

std::set<std::string> nulls(const Value& host) {
  std::set<std::string> names;
  for (const Value::Member& member : host.as_object()) {
    if (member.value.is_null()) names.insert(member.name);
  }
  return names;
}

TEST(Sources, NothingIsMissingWhileAllAreThere) {
  FakeMachine machine;
  machine.begin();
  machine.run({0.5, 0.5});
  EXPECT_EQ(nulls(host_of(machine)), (std::set<std::string>{"data_disk"}));
}

TEST(Sources, OneThatIsNotThereIsNullWithAReason) {
  for (const Source& source : sources()) {
    FakeMachine machine;
    machine.take_away(source.path);
    machine.begin();
    machine.run({0.5, 0.5});
    const Value host = host_of(machine);
    std::set<std::string> expected = {"data_disk"};
    for (const char* field : source.fields) {
      expected.insert(field);
      const Value* reason = host.find(std::string(field) + "_reason");
      ASSERT_NE(reason, nullptr) << source.path << " " << field;
      EXPECT_EQ(reason->as_text(), source.reason) << source.path << " " << field;
    }
    EXPECT_EQ(nulls(host), expected) << source.path;
  }
}

TEST(Sources, OneThatGoesAwayWhileRunningIsAReasonToo) {
  for (const Source& source : sources()) {
    if (std::string(source.path) == "sys/block") continue;  // is looked at once
    FakeMachine machine;
    machine.begin();
    machine.take_away(source.path);
    machine.run({0.5, 0.5});
    const Value host = host_of(machine);
    for (const char* field : source.fields) {
      EXPECT_TRUE(host.find(field)->is_null()) << source.path << " " << field;
      EXPECT_NE(host.find(std::string(field) + "_reason")->as_text(), "") << source.path;
    }
  }
}

TEST(Sources, TrafficOfAProcessThatMayNotBeRead) {
  FakeMachine machine;
  machine.take_away("proc/77/io");
  machine.begin();
  machine.run({0.5, 0.5});
  const ProcessTelemetry worker = machine.result().utilization.host.processes.value->at(0);
  EXPECT_EQ(worker.read_bytes.reason, "/proc/77/io: No such file or directory");
  EXPECT_TRUE(worker.cpu_s.has_value());
}

TEST(Sources, SamplersThatAreNotChosenSaySo) {
  FakeMachine machine;
  machine.begin({{"memory"}});
  machine.run({0.5, 0.5});
  const Telemetry telemetry = machine.result();
  const HostTelemetry& host = telemetry.utilization.host;
  EXPECT_TRUE(host.memory_used_bytes.has_value());
  EXPECT_EQ(host.cpu_pct.reason, "cpu is not among telemetry.samplers");
  EXPECT_EQ(host.disks.reason, "disk is not among telemetry.samplers");
  EXPECT_EQ(telemetry.utilization.gpus.at(0).power_w.reason,
            "nvml is not among telemetry.samplers");
  EXPECT_EQ(host.processes_cpu_s.reason, "cpu is not among telemetry.samplers");
  EXPECT_TRUE(host.processes_rss_peak_bytes.has_value());
}

TEST(Sources, TheWholeIsValidJsonAndReadsBack) {
  FakeMachine machine;
  machine.begin();
  machine.run({0.5, 0.25, 1});
  const Value value = base::to_value(machine.result());
  const Value again = base::parse_json(base::to_json(value), "telemetry");
  EXPECT_EQ(base::to_value(base::from_value<Telemetry>(again)), value);
  EXPECT_NE(value.find("series")->find("GPU-a/power_w"), nullptr);
  EXPECT_NE(value.find("series")->find("host/cpu_pct"), nullptr);
  EXPECT_NE(value.find("series")->find("vda/read_iops"), nullptr);
  EXPECT_NE(value.find("series")->find("rank 0/cpu_pct"), nullptr);
}

}  // namespace
}  // namespace falcon::telemetry
