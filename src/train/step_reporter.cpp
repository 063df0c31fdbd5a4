#include "train/step_reporter.h"

#include <cstddef>
#include <new>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include "ops/cuda/train_kernels.h"

namespace falcon::train {
namespace {

constexpr std::size_t kRingBytes = StepReporter::kRing * sizeof(ops::StepReport);

constexpr std::int64_t kUpdatesPlace = offsetof(ops::StepCounters, updates) / sizeof(std::int64_t);
constexpr std::int64_t kRowNumbers = 3;
static_assert(sizeof(ops::RateRow) == kRowNumbers * sizeof(double) &&
              sizeof(ops::cuda::StepRow) == kRowNumbers * sizeof(float));

std::vector<double> numbers_of(const RateRows& rows) {
  std::vector<double> numbers;
  for (const auto* list : {&rows.by_update, &rows.by_epoch}) {
    for (const ops::RateRow& row : *list) {
      numbers.insert(numbers.end(), {row.lr, row.bias_lr, row.momentum});
    }
  }
  return numbers;
}

const float* floats_of(const at::Tensor& scalar) {
  return scalar.const_data_ptr<float>();
}

std::int64_t* progress_in(const HostBlock& block) {
  return reinterpret_cast<std::int64_t*>(block.data() + kRingBytes);
}

ops::StepReport* ring_in(const HostBlock& block) {
  return reinterpret_cast<ops::StepReport*>(block.data());
}

}  // namespace

StepReporter::StepReporter(at::Device device, const RateRows& rows, std::int64_t updates_per_epoch,
                           std::int64_t first_update)
    : device_(device), host_(kRingBytes + sizeof(std::int64_t), device.is_cuda()) {
  for (std::int64_t i = 0; i < kRing; ++i) new (ring_in(host_) + i) ops::StepReport();
  *progress_in(host_) = 0;
  counters_ =
      at::zeros({static_cast<std::int64_t>(sizeof(ops::StepCounters) / sizeof(std::int64_t))},
                at::TensorOptions().dtype(at::kLong).device(device));
  counters_.select(0, kUpdatesPlace).fill_(first_update);
  rows_ = at::tensor(numbers_of(rows), at::TensorOptions().dtype(at::kDouble)).to(device);
  table_ = {static_cast<const ops::RateRow*>(rows_.const_data_ptr()), rows_.numel() / kRowNumbers,
            static_cast<std::int64_t>(rows.by_update.size()), updates_per_epoch};
  const ops::RateRow first = rows.at(first_update, updates_per_epoch);
  row_ =
      at::tensor({first.lr, first.bias_lr, first.momentum}, at::TensorOptions().dtype(at::kDouble))
          .to(device, device.is_cuda() ? at::kFloat : at::kDouble);
  rates_ = {row_.select(0, 0), row_.select(0, 1), row_.select(0, 2)};
}

void StepReporter::advance(const at::Tensor& loss, const LossScaler* scaler) {
  device_.is_cuda() ? advance_on_device(loss, scaler) : advance_on_host(loss, scaler);
}

void StepReporter::advance_on_device(const at::Tensor& loss, const LossScaler* scaler) {
  ops::cuda::StepAdvance job;
  job.counters = static_cast<ops::StepCounters*>(counters_.mutable_data_ptr());
  job.row = static_cast<ops::cuda::StepRow*>(row_.mutable_data_ptr());
  job.table = table_;
  job.loss = floats_of(loss);
  job.loss_scale = scaler != nullptr ? floats_of(scaler->scale()) : nullptr;
  job.found_inf = scaler != nullptr ? floats_of(scaler->found_inf()) : nullptr;
  job.ring = ring_in(host_);
  job.ring_size = kRing;
  job.progress = progress_in(host_);
  ops::cuda::advance_step(job, c10::cuda::getCurrentCUDAStream(device_.index()));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void StepReporter::advance_on_host(const at::Tensor& loss, const LossScaler* scaler) {
  auto& counters = *static_cast<ops::StepCounters*>(counters_.mutable_data_ptr());
  ops::count_step(counters, scaler != nullptr && *floats_of(scaler->found_inf()) != 0);
  ops::StepReport report;
  report.step = counters.steps;
  report.loss = loss.item<double>();
  auto& row = *static_cast<ops::RateRow*>(row_.mutable_data_ptr());
  report.lr = row.lr;
  report.loss_scale = scaler != nullptr ? *floats_of(scaler->scale()) : 0;
  report.skipped = counters.skipped;
  ring_in(host_)[(report.step - 1) % kRing] = report;
  row = ops::row_of(table_, counters.updates);
  __atomic_store_n(progress_in(host_), report.step, __ATOMIC_RELEASE);
}

const ops::StepReport& StepReporter::report(std::int64_t step) const {
  return ring_in(host_)[(step - 1) % kRing];
}

std::int64_t StepReporter::updates() const {
  return counters_.select(0, kUpdatesPlace).item<std::int64_t>();
}

const std::int64_t* StepReporter::progress() const {
  return progress_in(host_);
}

}  // namespace falcon::train
