// Memsets of a graph as kernels: the same bytes, in the same order.
#include "train/graph_fills.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

#include "train/graph_nodes.h"

namespace falcon::train {
namespace {

constexpr std::size_t kBytes = 4 << 20;

struct Fill {
  std::size_t begin, bytes;
  int value;  // of a byte
  bool is_replaced;
};

// Each but the first overlaps one before it, so order matters.
const std::vector<Fill> kFills{{0, kBytes, 7, false},       {16, 4, 255, true},
                               {12, 1024, 3, true},         {100, 6, 9, false},
                               {101, 8, 11, false},         {1 << 20, 1 << 20, 128, true},
                               {(1 << 20) + 8, 40, 1, true}};

cudaGraph_t captured(std::uint8_t* memory, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  C10_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (const Fill& fill : kFills) {
    C10_CUDA_CHECK(cudaMemsetAsync(memory + fill.begin, fill.value, fill.bytes, stream));
  }
  C10_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  return graph;
}

int memsets_of(cudaGraph_t graph) {
  int count = 0;
  for (cudaGraphNode_t node : nodes_of(graph)) count += type_of(node) == cudaGraphNodeTypeMemset;
  return count;
}

TEST(GraphFills, SetTheSameBytesInTheSameOrder) {
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "skipped: no GPU";
  std::uint8_t* memory = nullptr;
  cudaStream_t stream = nullptr;
  C10_CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&memory), kBytes));
  C10_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaGraph_t graph = captured(memory, stream);
  int replaced = 0;
  for (const Fill& fill : kFills) replaced += fill.is_replaced ? 1 : 0;
  EXPECT_EQ(replace_fills(graph), replaced);
  EXPECT_EQ(memsets_of(graph), static_cast<int>(kFills.size()) - replaced);
  cudaGraphExec_t executable = nullptr;
  C10_CUDA_CHECK(cudaGraphInstantiate(&executable, graph, 0));
  C10_CUDA_CHECK(cudaGraphLaunch(executable, stream));
  std::vector<std::uint8_t> got(kBytes), want(kBytes);
  C10_CUDA_CHECK(cudaMemcpyAsync(got.data(), memory, kBytes, cudaMemcpyDeviceToHost, stream));
  C10_CUDA_CHECK(cudaStreamSynchronize(stream));
  for (const Fill& fill : kFills) {
    std::fill_n(want.begin() + static_cast<std::ptrdiff_t>(fill.begin), fill.bytes,
                static_cast<std::uint8_t>(fill.value));
  }
  EXPECT_EQ(got, want);
  C10_CUDA_CHECK(cudaGraphExecDestroy(executable));
  C10_CUDA_CHECK(cudaGraphDestroy(graph));
  C10_CUDA_CHECK(cudaStreamDestroy(stream));
  C10_CUDA_CHECK(cudaFree(memory));
}

}  // namespace
}  // namespace falcon::train
