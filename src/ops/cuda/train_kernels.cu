#include "ops/cuda/train_kernels.h"

namespace falcon::ops::cuda {
namespace {

__global__ void advance_kernel(StepAdvance job) {
  const bool was_skipped = job.found_inf != nullptr && *job.found_inf != 0;
  count_step(*job.counters, was_skipped);
  StepReport report;
  report.step = job.counters->steps;
  report.loss = *job.loss;
  report.lr = job.row->lr;
  report.loss_scale = job.loss_scale != nullptr ? *job.loss_scale : 0;
  report.skipped = job.counters->skipped;
  job.ring[(report.step - 1) % job.ring_size] = report;
  const RateRow next = row_of(job.table, job.counters->updates);
  *job.row = {static_cast<float>(next.lr), static_cast<float>(next.bias_lr),
              static_cast<float>(next.momentum)};
  __threadfence_system();
  *static_cast<volatile std::int64_t*>(job.progress) = report.step;
}

constexpr int kFillThreads = 256;

__global__ void fill_kernel(std::uint32_t* memory, std::size_t words, std::uint32_t value) {
  const std::size_t place = static_cast<std::size_t>(blockIdx.x) * kFillThreads + threadIdx.x;
  if (place < words) memory[place] = value;
}

}  // namespace

void advance_step(const StepAdvance& job, CUstream_st* stream) {
  advance_kernel<<<1, 1, 0, stream>>>(job);
}

CUgraphNode_st* add_fill(CUgraph_st* graph, std::uint32_t* memory, std::size_t words,
                         std::uint32_t value) {
  void* arguments[] = {&memory, &words, &value};
  cudaKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void*>(fill_kernel);
  launch.gridDim = dim3(static_cast<unsigned>((words + kFillThreads - 1) / kFillThreads));
  launch.blockDim = dim3(kFillThreads);
  launch.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  const bool is_added = cudaGraphAddKernelNode(&node, graph, nullptr, 0, &launch) == cudaSuccess;
  return is_added ? node : nullptr;
}

bool has_train_kernels() {
  return true;
}

}  // namespace falcon::ops::cuda
