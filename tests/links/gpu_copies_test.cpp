// Copies on GPUs: kernels against their twins on the host, figures within what hardware can do.
#include "links/gpu_copies.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <falconbench/errors.h>

#include "comm/ranks.h"
#include "links/collectives.h"
#include "links/cuda/link_kernels.h"
#include "links/cuda_call.h"
#include "links/host_pattern.h"

namespace falcon::links {
namespace {

int gpu_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return 0;
  return cuda::has_link_kernels() ? count : 0;
}

class GpuCopiesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (gpu_count() == 0) GTEST_SKIP() << "skipped: no GPU";
  }
  static LinkWork work_of(std::vector<CopyTask> tasks) {
    LinkWork work;
    work.copies = std::move(tasks);
    return work;
  }
};

void expect_plausible(const LinkResult& result, std::size_t flows, double most_bytes_per_s) {
  EXPECT_EQ(result.error, "");
  ASSERT_FALSE(result.by_size.empty());
  for (const LinkWindows& windows : result.by_size) {
    EXPECT_TRUE(windows.contents_match) << windows.size_bytes;
    EXPECT_EQ(windows.seconds.size(), 5U);
    ASSERT_EQ(windows.flow_seconds.size(), flows);
    for (std::size_t i = 0; i < windows.seconds.size(); ++i) {
      const double bytes = static_cast<double>(windows.size_bytes * windows.repeats);
      EXPECT_GT(windows.seconds[i], 0);
      EXPECT_LT(bytes / windows.seconds[i], most_bytes_per_s) << windows.size_bytes;
      for (const auto& flow : windows.flow_seconds) EXPECT_LE(flow[i], windows.seconds[i] * 1.001);
    }
  }
}

TEST_F(GpuCopiesTest, ThePatternIsTheSameOnHostAndDevice) {
  constexpr std::int64_t kWords = 100'003;
  const GpuSide gpu(0, kWords * 8 + 8, {});
  cuda::fill_pattern(gpu.target(), kWords, 5, gpu.stream());
  EXPECT_TRUE(gpu.has_arrived(kWords, 5));
  EXPECT_FALSE(gpu.has_arrived(kWords, 6));
  std::vector<std::uint64_t> words(kWords);
  require(
      cudaMemcpyAsync(words.data(), gpu.target(), kWords * 8, cudaMemcpyDeviceToHost, gpu.stream()),
      "cudaMemcpyAsync");
  require(cudaStreamSynchronize(gpu.stream()), "cudaStreamSynchronize");
  EXPECT_TRUE(are_words(words.data(), kWords, 5));
  words[kWords - 1] ^= std::uint64_t{1} << 63;
  require(
      cudaMemcpyAsync(gpu.target(), words.data(), kWords * 8, cudaMemcpyHostToDevice, gpu.stream()),
      "cudaMemcpyAsync");
  EXPECT_FALSE(gpu.has_arrived(kWords, 5)) << "the last word differs in one bit";
}

TEST_F(GpuCopiesTest, CopiesWithHostMemoryArriveAndAreTimed) {
  const CopyTask up{{{kHostMemory, 0}}, "host_to_device", false, {16, 4096, 64 << 20}};
  const CopyTask down{{{0, kHostMemory}}, "device_to_host", false, {16, 4096, 64 << 20}};
  const LinkWork work = work_of({up, down});
  GpuCopies copies({0}, work);
  int sizes = 0;
  expect_plausible(copies.measure(up, [&sizes] { ++sizes; }), 1, 2e11);
  expect_plausible(copies.measure(down, [&sizes] { ++sizes; }), 1, 2e11);
  EXPECT_EQ(sizes, 6);
  EXPECT_EQ(copies.memory().size(), 1U);
  EXPECT_TRUE(copies.peers().empty());
}

TEST_F(GpuCopiesTest, PairsCopyInEveryWay) {
  if (gpu_count() < 2) GTEST_SKIP() << "skipped: one GPU has no pair";
  std::vector<CopyTask> tasks;
  for (const bool peer_to_peer : {true, false}) {
    for (const char* method : {"write", "read"}) {
      tasks.push_back({{{0, 1}}, method, peer_to_peer, {16, 64 << 20}});
      tasks.push_back({{{0, 1}, {1, 0}}, method, peer_to_peer, {64 << 20}});
    }
  }
  tasks.push_back({{{1, 0}}, "kernel_write", true, {1 << 20, 64 << 20}});
  tasks.push_back({{{1, 0}}, "kernel_read", true, {1 << 20, 64 << 20}});
  tasks.push_back({{{1, 0}}, "load", true, {8}});
  const LinkWork work = work_of(tasks);
  GpuCopies copies({0, 1}, work);
  for (const CopyTask& task : tasks) {
    SCOPED_TRACE(task.method + (task.peer_to_peer ? " peer to peer" : " staged"));
    if (task.peer_to_peer && copies.peers().empty()) {
      EXPECT_THROW(copies.measure(task, [] {}), Error);
    } else {
      expect_plausible(copies.measure(task, [] {}), task.flows.size(), 2e12);
    }
  }
}

TEST_F(GpuCopiesTest, CollectivesOfTwoGpusAreRight) {
  if (gpu_count() < 2) GTEST_SKIP() << "skipped: one GPU has no collectives";
  test::run_ranks(
      2,
      [](comm::ProcessGroup& group) {
        for (const char* operation : {"all_reduce", "all_gather", "reduce_scatter", "broadcast"}) {
          const LinkResult result =
              measure_collective(group, {operation, {1024, 16 << 20}}, LinkWork{}, [] {});
          for (const LinkWindows& windows : result.by_size) {
            EXPECT_TRUE(windows.contents_match) << operation << " " << windows.size_bytes;
          }
        }
      },
      comm::Backend::kNccl);
}

}  // namespace
}  // namespace falcon::links
