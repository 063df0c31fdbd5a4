#include "train/step_graph.h"

#include <mutex>

#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>

#include "train/graph_fills.h"
#include "train/graph_nodes.h"

namespace falcon::train {
namespace {

/// Part of the names of NCCL's kernels, ncclDevKernel_AllReduce_Sum_f32_RING_LL and others.
constexpr const char* kNcclKernels = "DevKernel_";

/// A capture that is ended or, when the work fails, given up.
class Capture {
 public:
  explicit Capture(at::cuda::CUDAGraph& graph) : graph_(graph) {
    // other threads may go on with what a capture forbids its own: the loader allocates, the
    // communication library asks for events
    graph_.capture_begin(pool_, cudaStreamCaptureModeThreadLocal);
  }
  ~Capture() {
    if (!is_ended_) give_up();
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  void end() {
    is_ended_ = true;
    graph_.capture_end();
  }

 private:
  /// The stream, the allocator and the random numbers are as before the capture. CUDAGraph leaves
  /// the last two as they are in a capture when it cannot end one.
  void give_up() {
    try {
      graph_.capture_end();
      return;
    } catch (const c10::Error&) {
      cudaGetLastError();  // that the capture is invalid is known
    }
    const c10::DeviceIndex device = c10::cuda::current_device();
    c10::cuda::CUDACachingAllocator::endAllocateToPool(device, pool_);
    c10::cuda::CUDACachingAllocator::releasePool(device, pool_);
    at::Generator generator = at::cuda::detail::getDefaultCUDAGenerator(device);
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.graphsafe_set_state(at::cuda::detail::createCUDAGenerator(device));
  }

  at::cuda::CUDAGraph& graph_;
  at::MempoolId_t pool_ = at::cuda::graph_pool_handle();
  bool is_ended_ = false;
};

}  // namespace

StepGraph::StepGraph(TimeMarks& marks, std::int64_t step, const std::function<void()>& work)
    : marks_(marks) {
  Capture capture(graph_);
  work();
  capture.end();
  replace_fills(graph_.raw_cuda_graph());
  find_marks(step);
  graph_.instantiate();
}

void StepGraph::find_marks(std::int64_t step) {
  const std::vector<cudaGraphNode_t> nodes = nodes_of(graph_.raw_cuda_graph());
  nodes_ = static_cast<std::int64_t>(nodes.size());
  for (cudaGraphNode_t node : nodes) {
    if (type_of(node) != cudaGraphNodeTypeEventRecord) continue;
    cudaEvent_t event = nullptr;
    C10_CUDA_CHECK(cudaGraphEventRecordNodeGetEvent(node, &event));
    for (int place = 0; place < marks_.places(); ++place) {
      if (marks_.event(step, place) == event) mark_nodes_.push_back({node, place});
    }
  }
}

void StepGraph::replay(std::int64_t step) {
  cudaGraphExec_t executable = graph_.raw_cuda_graph_exec();
  for (const MarkNode& mark : mark_nodes_) {
    const auto event = static_cast<cudaEvent_t>(marks_.event(step, mark.place));
    C10_CUDA_CHECK(cudaGraphExecEventRecordNodeSetEvent(executable, mark.node, event));
  }
  if (is_timed_) exchange_->prepare(executable, step);
  graph_.replay();
}

void StepGraph::set_exchange_timed(bool timed) {
  if (timed == is_timed_) return;
  is_timed_ = timed;
  if (timed) {
    exchange_.emplace(graph_.raw_cuda_graph(), kNcclKernels);
  } else {
    exchange_->leave_graph();
  }
  if (exchange_->count() > 0) graph_.instantiate();
}

}  // namespace falcon::train
