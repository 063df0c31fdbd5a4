// What a CUDA graph consists of.
#pragma once
#include <cstddef>
#include <vector>

#include <c10/cuda/CUDAException.h>
#include <cuda_runtime_api.h>

namespace falcon::train {

inline std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
  std::size_t count = 0;
  C10_CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  C10_CUDA_CHECK(cudaGraphGetNodes(graph, nodes.data(), &count));
  return nodes;
}

inline cudaGraphNodeType type_of(cudaGraphNode_t node) {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  C10_CUDA_CHECK(cudaGraphNodeGetType(node, &type));
  return type;
}

}  // namespace falcon::train
