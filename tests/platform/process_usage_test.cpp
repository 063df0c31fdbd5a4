#include "platform/process_usage.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/fake_host.h"

namespace falcon::platform {
namespace {

TEST(ProcessUsage, NamesWithBlanksAndParentheses) {
  test::FakeRoot fake;
  fake.file("proc/7/stat",
            "7 (a) b (c)) S 1 7 7 0 -1 0 0 0 0 0 150 50 0 0 20 0 1 0 100 0 25 0 0 0\n");
  fake.file("proc/7/io", "rchar: 1\nread_bytes: 4096\nwrite_bytes: 8192\n");
  const Root root(fake.path());
  const ProcessUsage usage = process_usage(root, 7);
  EXPECT_DOUBLE_EQ(*usage.cpu_s, 200.0 / static_cast<double>(sysconf(_SC_CLK_TCK)));
  EXPECT_EQ(*usage.rss_bytes, 25 * sysconf(_SC_PAGESIZE));
  EXPECT_EQ(*process_traffic(root, 7).read_bytes, 4096);
  EXPECT_EQ(*process_traffic(root, 7).write_bytes, 8192);
}

TEST(ProcessUsage, GoneOrCutShortIsMissingWithAReason) {
  test::FakeRoot fake;
  fake.file("proc/8/stat", "8 (a) S 1\n");
  const Root root(fake.path());
  EXPECT_EQ(process_usage(root, 8).cpu_s.reason, "/proc/8/stat is cut short");
  EXPECT_EQ(process_usage(root, 9).rss_bytes.reason, "/proc/9/stat: No such file or directory");
  EXPECT_EQ(process_traffic(root, 9).read_bytes.reason, "/proc/9/io: No such file or directory");
}

TEST(ProcessUsage, OfThisProcessAgreesWithTheKernel) {
  volatile double sink = 0;
  rusage used{};
  const auto cpu_s = [&used] {
    getrusage(RUSAGE_SELF, &used);
    return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  };
  while (cpu_s() < 0.3) sink = sink + 1;
  EXPECT_NEAR(*process_usage(Root(), getpid()).cpu_s, cpu_s(), 0.03);
}

}  // namespace
}  // namespace falcon::platform
