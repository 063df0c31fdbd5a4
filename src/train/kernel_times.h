// When chosen kernels of a CUDA graph run, in every replay: c10d's own timing of collectives does
// not work in a graph, whose kernels are no longer its calls.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <cuda_runtime_api.h>

namespace falcon::train {

/// One thread. Steps are counted as TimeMarks counts them, and as many may be unread.
class KernelTimes {
 public:
  /// Adds, for each kernel of `graph` whose name has `part` in it, an event before and one
  /// after it; what is instantiated from then on has them. The device of the graph is current,
  /// here and in every call.
  KernelTimes(cudaGraph_t graph, std::string_view part);
  ~KernelTimes();
  KernelTimes(const KernelTimes&) = delete;
  KernelTimes& operator=(const KernelTimes&) = delete;

  std::size_t count() const { return nodes_.size() / 2; }
  /// Takes the events out of the graph, which is as it was before: what is instantiated from then
  /// on has none. Times that were taken can still be read.
  void leave_graph();
  /// The next replay is that of `step`.
  void prepare(cudaGraphExec_t executable, std::int64_t step);
  /// Time in which at least one of the kernels was under way, from what it waited for being done
  /// (for a collective: with the wait for other ranks). Waits for the step's last one.
  double busy_ms(std::int64_t step);

 private:
  /// What a kernel waited for before it was timed; edges may hold more than an order.
  struct Waits {
    cudaGraphNode_t kernel;
    std::vector<cudaGraphNode_t> for_nodes;
    std::vector<cudaGraphEdgeData> edges;
  };
  void surround(cudaGraphNode_t kernel);
  cudaEvent_t event(std::int64_t step, std::size_t place) const;

  cudaGraph_t graph_;
  std::vector<Waits> waits_;
  std::vector<cudaGraphNode_t> nodes_;  // before and after the first kernel, before and after ...
  std::vector<cudaEvent_t> events_;     // of a ring of steps
};

}  // namespace falcon::train
