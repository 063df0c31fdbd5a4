#include "train/kernel_times.h"

#include <algorithm>
#include <string>
#include <utility>

#include <c10/cuda/CUDAException.h>
#include <cuda.h>

#include <falconbench/errors.h>

#include "measure/intervals.h"
#include "train/graph_nodes.h"
#include "train/time_marks.h"

namespace falcon::train {
namespace {

template <class Function>
Function driver_function(const char* name, unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result{};
  C10_CUDA_CHECK(
      cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &result));
  if (function == nullptr) {
    throw Error(ExitCode::kHost, std::string("the GPU driver has no ") + name);
  }
  return reinterpret_cast<Function>(function);
}

/// The driver's own: the runtime knows nothing of kernels that a library launched through it.
class KernelNames {
 public:
  std::string operator()(cudaGraphNode_t node) const {
    CUDA_KERNEL_NODE_PARAMS params{};
    const char* name = nullptr;
    if (get_params_(node, &params) != CUDA_SUCCESS) return {};
    const bool is_known = params.func != nullptr
                              ? function_name_(&name, params.func) == CUDA_SUCCESS
                              : kernel_name_(&name, params.kern) == CUDA_SUCCESS;
    return is_known && name != nullptr ? name : "";
  }

 private:
  static constexpr unsigned kSince = 12030;
  decltype(&cuGraphKernelNodeGetParams) get_params_ =
      driver_function<decltype(&cuGraphKernelNodeGetParams)>("cuGraphKernelNodeGetParams", kSince);
  decltype(&cuFuncGetName) function_name_ =
      driver_function<decltype(&cuFuncGetName)>("cuFuncGetName", kSince);
  decltype(&cuKernelGetName) kernel_name_ =
      driver_function<decltype(&cuKernelGetName)>("cuKernelGetName", kSince);
};

}  // namespace

KernelTimes::KernelTimes(cudaGraph_t graph, std::string_view part) : graph_(graph) {
  const KernelNames name_of;
  for (cudaGraphNode_t node : nodes_of(graph)) {
    if (type_of(node) != cudaGraphNodeTypeKernel) continue;
    if (name_of(node).find(part) != std::string::npos) surround(node);
  }
}

KernelTimes::~KernelTimes() {
  for (cudaEvent_t event : events_) C10_CUDA_CHECK_WARN(cudaEventDestroy(event));
}

/// Each kernel gets its own two events in every step of the ring. The one before it goes between
/// the kernel and all that it waits for: on a branch of its own it would come whenever the work
/// that the GPU has put before it is done.
void KernelTimes::surround(cudaGraphNode_t kernel) {
  std::size_t count = 0;
  C10_CUDA_CHECK(cudaGraphNodeGetDependencies(kernel, nullptr, nullptr, &count));
  Waits waits{kernel, std::vector<cudaGraphNode_t>(count), std::vector<cudaGraphEdgeData>(count)};
  C10_CUDA_CHECK(
      cudaGraphNodeGetDependencies(kernel, waits.for_nodes.data(), waits.edges.data(), &count));
  for (int i = 0; i < 2 * TimeMarks::kSlots; ++i) {
    events_.push_back(nullptr);
    C10_CUDA_CHECK(cudaEventCreateWithFlags(&events_.back(), cudaEventBlockingSync));
  }
  const std::size_t place = nodes_.size();
  nodes_.resize(place + 2);
  C10_CUDA_CHECK(cudaGraphAddEventRecordNode(&nodes_[place], graph_, waits.for_nodes.data(), count,
                                             event(0, place)));
  const std::vector<cudaGraphNode_t> same(count, kernel);
  C10_CUDA_CHECK(cudaGraphRemoveDependencies(graph_, waits.for_nodes.data(), same.data(),
                                             waits.edges.data(), count));
  C10_CUDA_CHECK(cudaGraphAddDependencies(graph_, &nodes_[place], &kernel, nullptr, 1));
  C10_CUDA_CHECK(
      cudaGraphAddEventRecordNode(&nodes_[place + 1], graph_, &kernel, 1, event(0, place + 1)));
  waits_.push_back(std::move(waits));
}

cudaEvent_t KernelTimes::event(std::int64_t step, std::size_t place) const {
  return events_[place * TimeMarks::kSlots + static_cast<std::size_t>(step % TimeMarks::kSlots)];
}

void KernelTimes::prepare(cudaGraphExec_t executable, std::int64_t step) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    C10_CUDA_CHECK(cudaGraphExecEventRecordNodeSetEvent(executable, nodes_[i], event(step, i)));
  }
}

void KernelTimes::leave_graph() {
  for (cudaGraphNode_t node : nodes_) C10_CUDA_CHECK(cudaGraphDestroyNode(node));
  for (const Waits& waits : waits_) {
    const std::vector<cudaGraphNode_t> same(waits.for_nodes.size(), waits.kernel);
    C10_CUDA_CHECK(cudaGraphAddDependencies(graph_, waits.for_nodes.data(), same.data(),
                                            waits.edges.data(), waits.for_nodes.size()));
  }
}

double KernelTimes::busy_ms(std::int64_t step) {
  std::vector<measure::Interval> kernels;
  for (std::size_t i = 0; i < nodes_.size(); i += 2) {
    C10_CUDA_CHECK(cudaEventSynchronize(event(step, i + 1)));
    float begin_ms = 0, duration_ms = 0;
    C10_CUDA_CHECK(cudaEventElapsedTime(&begin_ms, event(step, 0), event(step, i)));
    C10_CUDA_CHECK(cudaEventElapsedTime(&duration_ms, event(step, i), event(step, i + 1)));
    kernels.push_back({begin_ms, double{begin_ms} + duration_ms});
  }
  return measure::covered(std::move(kernels));
}

}  // namespace falcon::train
