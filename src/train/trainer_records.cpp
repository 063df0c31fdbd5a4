// What a trainer says about its run.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <ATen/Context.h>

#include "train/device_memory.h"
#include "train/parameter_hash.h"
#include "train/trainer.h"

namespace falcon::train {
namespace {

constexpr std::size_t kMaxSkippedItems = 100;

Measured<std::int64_t> peak_memory(at::Device device) {
  if (!device.is_cuda()) return Measured<std::int64_t>::missing("the rank computes on the CPU");
  return reserved_memory(device).peak_bytes;
}

std::int64_t elements_of(const std::vector<NamedTensor>& parameters) {
  std::int64_t count = 0;
  for (const NamedTensor& parameter : parameters) count += parameter.tensor.numel();
  return count;
}

/// Over the measured steps.
Measured<double> mean_busy_ms(const std::vector<double>& busy_ms, std::size_t warmup_steps,
                              int world) {
  if (world == 1) {
    return Measured<double>::missing("one rank: copies between its devices are not timed alone");
  }
  if (busy_ms.size() <= warmup_steps) {
    return Measured<double>::missing("no measured step was timed");
  }
  const auto begin = busy_ms.begin() + static_cast<std::ptrdiff_t>(warmup_steps);
  return std::accumulate(begin, busy_ms.end(), 0.0) / static_cast<double>(busy_ms.end() - begin);
}

Measured<double> mean_exchange_ms(const std::vector<double>& replays_ms) {
  if (replays_ms.empty()) {
    return Measured<double>::missing("a graph's exchange is timed in the warm-up, which needs " +
                                     std::to_string(kGraphWarmupSteps + 2) + " steps for that");
  }
  const double sum = std::accumulate(replays_ms.begin(), replays_ms.end(), 0.0);
  return sum / static_cast<double>(replays_ms.size());
}

const char* on_off(bool on) {
  return on ? "on" : "off";
}

}  // namespace

MemoryRecord Trainer::memory_now() const {
  const HeldBytes held = strategy_->held();
  MemoryRecord memory;
  memory.parameter_bytes = held.parameters;
  memory.gradient_bytes = held.gradients;
  memory.master_bytes = held.masters;
  memory.exchange_bytes = held.buffers;
  for (const SlicedState& state : optimizer_->state()) {
    for (const at::Tensor& part : state.parts) {
      memory.optimizer_bytes += static_cast<std::int64_t>(part.nbytes());
    }
  }
  return memory;
}

void Trainer::fill_loss(WorkerRecords& records) const {
  std::int64_t odd = 0;
  std::int64_t first_odd = 0;
  for (const ops::StepReport& report : reports_) {
    const bool finite = std::isfinite(report.loss);
    records.loss.push_back(finite ? std::optional<double>(report.loss) : std::nullopt);
    records.lr.push_back(report.lr);
    if (!finite && odd++ == 0) first_odd = report.step;
  }
  if (odd > 0) {
    records.notes.push_back("loss_not_finite: " + std::to_string(odd) + " of " +
                            std::to_string(reports_.size()) + " steps, first in step " +
                            std::to_string(first_odd));
  }
  if (!reports_.empty()) records.skipped_steps = reports_.back().skipped;
  records.loss_scale = !scaler_ ? Measured<double>::missing("precision without loss scaling")
                       : reports_.empty() ? Measured<double>::missing("no step was done")
                                          : Measured<double>(reports_.back().loss_scale);
}

void Trainer::fill_phases(WorkerRecords& records) const {
  PhaseTimes& phases = records.phases;
  for (int i = 0; i < kPhaseCount; ++i) {
    const auto phase = static_cast<Phase>(i);
    const std::string name(name_of(phase));
    std::vector<double>& list = phases.ms[name];
    if (phase == Phase::kH2d && !options_.device.is_cuda()) {
      phases.reasons[name] = "no copy: batches are used where the loader wrote them";
      continue;
    }
    if (phase == Phase::kCommunicationExposed && !strategy_->marks_gradients()) {
      phases.reasons[name] = "one rank: nothing to exchange";
      continue;
    }
    for (const StepTime& time : times_) {
      if (time.phases_ms) list.push_back((*time.phases_ms)[static_cast<std::size_t>(i)]);
    }
    if (list.size() == times_.size()) continue;
    list.clear();
    phases.reasons[name] = "the phase clock was off in some steps";
  }
  for (const StepTime& time : times_) records.step_ms.push_back(time.step_ms);
}

void Trainer::fill_loader(WorkerRecords& records) const {
  const data::LoaderStats window = loader_at_end_.since(loader_at_begin_);
  LoaderRecord& loader = records.loader;
  loader.samples = static_cast<std::int64_t>(times_.size()) * plan_.batch_per_rank;
  loader.file_bytes = window.file_bytes;
  loader.io_s = window.io_s;
  loader.decode_s = window.decode_s;
  loader.wait_s = feed_.waited_s() - waited_at_begin_s_;
  loader.threads = window.threads;
  loader.pictures_made_on = feed_.pictures_made_on();
  // of the whole run: a short window may see only a few batches, read ahead before it began
  loader.capacity_samples_per_s = loader_at_end_.own_rate_samples_per_s();
  const data::SkipLog skipped = loader_.skipped();
  for (const auto& [reason, count] : skipped.counts()) loader.skipped[reason] = count;
  const auto& items = skipped.kept();
  const std::size_t shown = std::min(items.size(), kMaxSkippedItems);
  loader.skipped_items.assign(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(shown));
}

void Trainer::fill(WorkerRecords& records) const {
  fill_loss(records);
  fill_phases(records);
  fill_loader(records);
  records.pauses = pauses_;
  records.first_step_end_s = first_step_end_s_;
  records.measured_begin_s = measured_begin_s_;
  records.measured_end_s = last_end_s_;
  records.measured_steps = static_cast<std::int64_t>(times_.size());
  records.warmup_steps = static_cast<std::int64_t>(reports_.size()) - records.measured_steps;
  const CommunicationCount communication = strategy_->last_step();
  records.communication.bytes_per_step = communication.bytes;
  records.communication.calls_per_step = communication.calls;
  records.communication.busy_ms =
      mean_busy_ms(strategy_->busy_ms(), static_cast<std::size_t>(records.warmup_steps), world_);
  if (graph_record_.has_value() && world_ > 1) {
    records.communication.busy_ms = mean_exchange_ms(exchange_ms_);
  }
  records.graph = graph_record_;
  const std::vector<NamedTensor> parameters = model_.parameters();
  records.parameters = elements_of(parameters);
  records.parameter_hash = parameter_hash(parameters);
  records.memory = memory_;
  records.gpu_memory_peak_bytes = peak_memory(options_.device);
  const bool on_gpu = options_.device.is_cuda();
  auto& choices = records.choices;
  choices["precision"] = std::string(precision_.name);
  if (plan_.spec.image_size.has_value()) {
    choices["memory_format"] = options_.channels_last ? "channels_last" : "contiguous";
    choices["convolution"] = on_gpu ? "cuDNN" : at::hasMKLDNN() ? "oneDNN" : "native";
    if (on_gpu) choices["cudnn_benchmark"] = on_off(at::globalContext().benchmarkCuDNN());
  }
  choices["optimizer"] = "fused, one kernel for all parameters";
  if (plan_.spec.accumulate > 1) {
    choices["accumulation"] = std::to_string(plan_.spec.accumulate) + " micro-batches of " +
                              std::to_string(plan_.micro_batch) + "; batch statistics are of each";
  }
  if (average_) choices["moving_average"] = "of the state, after every step";
  choices["deterministic"] = on_off(at::globalContext().deterministicAlgorithms());
  for (const auto& [name, text] : strategy_->choices()) choices[name] = text;
  for (const auto& [name, text] : model_.choices()) choices[name] = text;
}

}  // namespace falcon::train
