// How a trainer's step becomes a CUDA graph.
#include <string>

#include <ATen/ops/full.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include <falconbench/clock.h>
#include <falconbench/errors.h>

#include "train/device_memory.h"
#include "train/trainer.h"

namespace falcon::train {

bool Trainer::is_captured_next() const {
  return plan_.graphs && clock_.begun() == kGraphWarmupSteps;
}

/// Collective.
bool Trainer::all_ranks(bool holds) {
  if (group_ == nullptr) return holds;
  const at::Tensor failed =
      at::full({1}, holds ? 0.0 : 1.0, at::TensorOptions().device(options_.device));
  group_->all_reduce(failed, comm::Reduction::kMaximum);
  return failed.item<float>() == 0;
}

/// Why it failed, or nothing.
std::string Trainer::try_capture(const Batch& batch) {
  try {
    graph_ = std::make_unique<StepGraph>(clock_.marks(), clock_.begun(),
                                         [this, &batch] { compute(batch); });
    return {};
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// This step, captured and replayed; or computed, when any rank could not capture it.
void Trainer::capture(const Batch& batch) {
  const double began_s = steady_now_s();
  c10::cuda::device_synchronize();
  if (group_ != nullptr) group_->barrier();
  GraphRecord record;
  record.eager_peak_bytes = reserved_memory(options_.device).peak_bytes;
  // a graph keeps its own memory, and what earlier steps left would stay beside it unused
  strategy_->drop_gradients();
  c10::cuda::CUDACachingAllocator::emptyCache();
  const std::int64_t before_bytes = reserved_memory(options_.device).current_bytes;
  std::vector<at::Tensor> counts;
  for (const at::Tensor& count : host_counts_) counts.push_back(count.clone());
  const std::string problem = try_capture(batch);
  if (all_ranks(problem.empty())) {
    record.nodes = graph_->nodes();
    record.memory_bytes = reserved_memory(options_.device).current_bytes - before_bytes;
    record.capture_s = steady_now_s() - began_s;
    graph_record_ = record;
    // the capture has moved the counts
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counted_.push_back(host_counts_[i].item<std::int64_t>() - counts[i].item<std::int64_t>());
    }
    graph_->replay(clock_.begun());
    return;
  }
  const std::string reason =
      kCaptureFailed + (problem.empty() ? std::string("not by another rank") : problem);
  if (plan_.spec.engine.graphs == "on") {
    throw Error(ExitCode::kWorker, "engine.graphs is on, but the step " + reason);
  }
  graph_.reset();
  graph_record_ = Measured<GraphRecord>::missing(reason);
  for (std::size_t i = 0; i < counts.size(); ++i) host_counts_[i].copy_(counts[i]);
  strategy_->restart();  // the backward pass may have ended half-way
  seed_this_step();
  compute(batch);
}

/// Between the first replay and the last warm-up step, from which on nothing but the step itself is
/// in the graph.
bool Trainer::is_timed_replay(std::int64_t step) const {
  return step > kGraphWarmupSteps && step < length_.warmup_steps;
}

void Trainer::replay() {
  for (std::size_t i = 0; i < counted_.size(); ++i) {
    *host_counts_[i].mutable_data_ptr<std::int64_t>() += counted_[i];
  }
  graph_->replay(clock_.begun());
}

}  // namespace falcon::train
