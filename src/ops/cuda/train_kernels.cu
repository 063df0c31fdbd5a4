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

}  // namespace

void advance_step(const StepAdvance& job, CUstream_st* stream) {
  advance_kernel<<<1, 1, 0, stream>>>(job);
}

bool has_train_kernels() {
  return true;
}

}  // namespace falcon::ops::cuda
