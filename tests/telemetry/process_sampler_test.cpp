#include <atomic>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fake_machine.h"

namespace falcon::telemetry {
namespace {

TEST(ProcessSampler, CpuMemoryAndTrafficOfTheWorkers) {
  const double tick_s = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  const HostTelemetry host = FakeMachine::measure({0.4, 0.8}).utilization.host;
  ASSERT_EQ(host.processes.value->size(), 1U);
  const ProcessTelemetry& worker = host.processes.value->at(0);
  EXPECT_EQ(worker.pid, 77);
  EXPECT_EQ(worker.name, "rank 0");
  EXPECT_NEAR(*worker.cpu_s, 150 * 1.2 * tick_s, 1e-9);
  EXPECT_NEAR(worker.cpu_pct.value->mean, 100 * 150 * 0.6 * tick_s, 1e-9);
  EXPECT_NEAR(worker.rss_bytes.value->max, 800.0 * static_cast<double>(sysconf(_SC_PAGESIZE)), 1);
  EXPECT_NEAR(worker.page_faults_per_s.value->mean, (400 + 20) * 0.6, 1e-9);
  EXPECT_NEAR(worker.major_page_faults_per_s.value->mean, 20 * 0.6, 1e-9);
  EXPECT_NEAR(*worker.read_bytes, 1.2e6, 1);
  EXPECT_NEAR(*worker.write_bytes, 2.4e5, 1);
  EXPECT_NEAR(*host.processes_cpu_s, *worker.cpu_s, 1e-9);
  EXPECT_EQ(*host.processes_rss_peak_bytes, static_cast<std::int64_t>(worker.rss_bytes.value->max));
}

TEST(ProcessSampler, WithoutWorkersThereIsAReason) {
  test::FakeRoot root;
  SamplerContext context;
  context.root = root.path();
  const Session session(make_samplers(context, {}), {});
  const HostTelemetry host = session.result().utilization.host;
  EXPECT_EQ(host.processes.reason, "no worker was watched");
  EXPECT_EQ(host.processes_cpu_s.reason, "no worker was watched");
}

double own_cpu_s() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

// The numbers that /usr/bin/time prints come from the same rusage.
TEST(ProcessSampler, AgreesWithTheKernelsOwnAccountWithinTenPercent) {
  SamplerContext context;
  context.processes = {{getpid(), "rank 0"}};
  Session session(make_samplers(context, {{"cpu", "memory"}}), {.interval_ms = 50});
  session.start();
  const std::vector<char> ballast(50 << 20, 1);
  session.begin_window(steady_now_s());
  const double began_cpu_s = own_cpu_s();
  volatile double sink = ballast[7];
  while (own_cpu_s() < began_cpu_s + 0.8) sink = sink + 1;
  session.end_window(steady_now_s());
  session.stop();
  const double used_s = own_cpu_s() - began_cpu_s;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const Utilization utilization = session.result().utilization;
  EXPECT_NEAR(*utilization.host.processes_cpu_s, used_s, 0.1 * used_s);
  EXPECT_NEAR(static_cast<double>(*utilization.host.processes_rss_peak_bytes),
              1024.0 * static_cast<double>(used.ru_maxrss),
              0.1 * 1024.0 * static_cast<double>(used.ru_maxrss));
  // The host was at least as busy as this process, and never more than wholly.
  const double own_pct = 100 * used_s / *utilization.window_s / sysconf(_SC_NPROCESSORS_ONLN);
  EXPECT_GT(utilization.host.cpu_pct.value->mean, 0.9 * own_pct);
  EXPECT_LE(utilization.host.cpu_pct.value->mean, 100.0001);
  EXPECT_LT(*utilization.cost_cpu_pct, 10);
}

TEST(ProcessSampler, BytesWrittenAgreeWithWhatWasWritten) {
  SamplerContext context;
  context.processes = {{getpid(), "rank 0"}};
  Session session(make_samplers(context, {{"disk"}}), {.interval_ms = 20});
  if (session.result().utilization.host.processes.value->at(0).write_bytes.reason.find("/proc") ==
      0) {
    GTEST_SKIP() << "no /proc/PID/io here";
  }
  std::string path = "build-traffic-XXXXXX";
  const int file = mkstemp(path.data());
  ASSERT_GE(file, 0);
  unlink(path.c_str());
  session.tick();
  session.begin_window(steady_now_s());
  const std::vector<char> block(1 << 20, 'x');
  constexpr int kBlocks = 16;
  for (int i = 0; i < kBlocks; ++i) {
    ASSERT_EQ(write(file, block.data(), block.size()), static_cast<ssize_t>(block.size()));
  }
  fsync(file);
  session.tick();
  session.end_window(steady_now_s());
  close(file);
  const ProcessTelemetry worker = session.result().utilization.host.processes.value->at(0);
  const double expected = kBlocks * static_cast<double>(block.size());
  if (*worker.write_bytes == 0) GTEST_SKIP() << "the file system here has no storage behind it";
  EXPECT_NEAR(*worker.write_bytes, expected, 0.1 * expected);
}

}  // namespace
}  // namespace falcon::telemetry
