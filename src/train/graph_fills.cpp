#include "train/graph_fills.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <c10/cuda/CUDAException.h>

#include "ops/cuda/train_kernels.h"
#include "train/graph_nodes.h"

namespace falcon::train {
namespace {

constexpr std::size_t kWord = sizeof(std::uint32_t);
constexpr std::size_t kFewBytes = 1 << 20;  // what is more takes its time either way

struct Edges {
  std::vector<cudaGraphNode_t> nodes;
  std::vector<cudaGraphEdgeData> data;
};

template <class Query>
Edges edges_of(cudaGraphNode_t node, Query query) {
  std::size_t count = 0;
  C10_CUDA_CHECK(query(node, nullptr, nullptr, &count));
  Edges edges{std::vector<cudaGraphNode_t>(count), std::vector<cudaGraphEdgeData>(count)};
  if (count > 0) C10_CUDA_CHECK(query(node, edges.nodes.data(), edges.data.data(), &count));
  return edges;
}

/// The value of a whole word.
std::uint32_t word_of(const cudaMemsetParams& fill) {
  std::uint32_t word = fill.value;
  if (fill.elementSize == 1) word = (word & 0xffU) * 0x01010101U;
  if (fill.elementSize == 2) word = (word & 0xffffU) * 0x00010001U;
  return word;
}

bool is_taken(const cudaMemsetParams& fill, std::size_t bytes) {
  return fill.height == 1 && bytes > 0 && bytes <= kFewBytes && bytes % kWord == 0 &&
         reinterpret_cast<std::uintptr_t>(fill.dst) % kWord == 0;
}

void replace(cudaGraph_t graph, cudaGraphNode_t memset, cudaGraphNode_t fill) {
  const Edges before = edges_of(memset, cudaGraphNodeGetDependencies);
  const Edges after = edges_of(memset, cudaGraphNodeGetDependentNodes);
  const std::vector<cudaGraphNode_t> to(before.nodes.size(), fill), from(after.nodes.size(), fill);
  C10_CUDA_CHECK(cudaGraphDestroyNode(memset));
  C10_CUDA_CHECK(cudaGraphAddDependencies(graph, before.nodes.data(), to.data(), before.data.data(),
                                          to.size()));
  C10_CUDA_CHECK(cudaGraphAddDependencies(graph, from.data(), after.nodes.data(), after.data.data(),
                                          from.size()));
}

}  // namespace

int replace_fills(cudaGraph_t graph) {
  if (!ops::cuda::has_train_kernels()) return 0;
  int count = 0;
  for (cudaGraphNode_t node : nodes_of(graph)) {
    if (type_of(node) != cudaGraphNodeTypeMemset) continue;
    cudaMemsetParams memset{};
    C10_CUDA_CHECK(cudaGraphMemsetNodeGetParams(node, &memset));
    const std::size_t bytes = memset.width * memset.elementSize;
    if (!is_taken(memset, bytes)) continue;
    cudaGraphNode_t fill = ops::cuda::add_fill(graph, static_cast<std::uint32_t*>(memset.dst),
                                               bytes / kWord, word_of(memset));
    if (fill == nullptr) C10_CUDA_CHECK(cudaGetLastError());
    replace(graph, node, fill);
    ++count;
  }
  return count;
}

}  // namespace falcon::train
