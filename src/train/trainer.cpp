#include "train/trainer.h"

#include <algorithm>
#include <cmath>

#include <ATen/TensorOperators.h>
#include <ATen/ops/full_like.h>

#include <falconbench/catalog.h>
#include <falconbench/clock.h>

#include "train/generator.h"
#include "train/nvtx_range.h"

namespace falcon::train {
namespace {

/// Steps that the host may be ahead of the device: enough to hide its own delays, few enough that a
/// stop is quick and the rings of marks and reports suffice.
constexpr std::int64_t kMaxAhead = 8;
static_assert(kMaxAhead + 2 <= TimeMarks::kSlots && kMaxAhead < StepReporter::kRing);
constexpr std::size_t kRecentSteps = 15;
// Of a run whose length is given in seconds the schedule is made for as many steps as it can have.
constexpr double kFastestStep_s = 1e-4;
constexpr double kMaxTimedSteps = 4e6;

RunLength length_of(const Plan& plan) {
  return {plan.warmup_steps, plan.measured_steps, plan.spec.budget.seconds.value_or(0),
          plan.checkpoint_steps};
}

RateRows rows_of(const Plan& plan) {
  ScheduleContext context;
  context.lr = plan.spec.optimizer.lr.value_or(0);
  context.momentum = plan.spec.optimizer.momentum.value_or(0);
  context.updates_per_epoch = plan.steps_per_epoch;
  const double most = plan.spec.budget.seconds.value_or(0) / kFastestStep_s;
  const auto measured = static_cast<std::int64_t>(std::min(most, kMaxTimedSteps));
  context.max_updates =
      plan.first_step + plan.warmup_steps + plan.measured_steps.value_or(measured);
  return rate_rows(plan.spec.schedule, context);
}

std::unique_ptr<const weights::SafetensorsFile> resumed_file(const Plan& plan) {
  if (plan.files.resume.empty()) return nullptr;
  return std::make_unique<const weights::SafetensorsFile>(plan.files.resume);
}

std::string no_graph_reason(const Plan& plan, at::Device device) {
  if (plan.graphs) return "the run ended before a step was captured";
  if (!device.is_cuda()) return "the rank computes on the CPU";
  if (plan.spec.engine.graphs == "off") return "engine.graphs is off";
  const StrategyFacts* strategy = catalog::find_parallelism(plan.parallelism);
  if (strategy != nullptr && strategy->is_one_rank) {
    return "with " + strategy->name + " a step spans devices and threads";
  }
  return "fewer than " + std::to_string(kGraphWarmupSteps) + " warm-up steps";
}

std::unique_ptr<TimeMarks> marks_of(const TrainerOptions& options, std::int64_t micro_batches) {
  return options.device.is_cuda()
             ? make_device_marks(options.training_stream, options.copy_stream, micro_batches)
             : make_host_marks(micro_batches);
}

FeedOptions feed_options(const Plan& plan, const Model& model, const TrainerOptions& options,
                         const Precision& precision) {
  FeedOptions feed;
  feed.normalization = model.image_normalization();
  feed.device = options.device;
  feed.picture_type = precision.autocast.value_or(options.model_type);
  feed.channels_last = options.channels_last;
  feed.batch = plan.batch_per_rank;
  feed.copy_stream = options.copy_stream;
  return feed;
}

}  // namespace

Trainer::Trainer(const Plan& plan, Model& model, comm::ProcessGroup* group, data::Loader& loader,
                 const std::vector<TensorLayout>& layout, const TrainerOptions& options,
                 RunControl& control)
    : Trainer(plan, model, group, loader, layout, options, control,
              Start{rows_of(plan), resumed_file(plan)}) {}

Trainer::Trainer(const Plan& plan, Model& model, comm::ProcessGroup* group, data::Loader& loader,
                 const std::vector<TensorLayout>& layout, const TrainerOptions& options,
                 RunControl& control, const Start& start)
    : plan_(plan),
      options_(options),
      model_(model),
      loader_(loader),
      control_(control),
      precision_(precision_of(plan.spec.precision.value_or(""), options.device.type())),
      length_(length_of(plan)),
      group_(group),
      world_(group == nullptr ? 1 : group->world()),
      rank_(group == nullptr ? 0 : group->rank()),
      clock_(marks_of(options, plan.spec.accumulate), options.device.is_cuda(),
             plan.spec.accumulate),
      reporter_(options.device, start.rows, plan.steps_per_epoch,
                start.resume ? weights::checkpoint_facts(*start.resume).updates : 0),
      strategy_(apply_strategy()),
      slices_(strategy_->slices()),
      optimizer_(make_optimizer(
          slices_, at::TensorOptions().device(options.device).dtype(options.model_type),
          plan.spec.optimizer, start.rows)),
      feed_(loader, layout, feed_options(plan, model, options, precision_), clock_),
      blocks_(group, length_, plan.spec.engine.allreduce == "on") {
  if (precision_.loss_scaling) scaler_.emplace(options.device);
  if (strategy_->is_sharded()) {
    optimizer_->set_sum_over_ranks([this](const at::Tensor& t) { strategy_->sum(t); });
  }
  model_.set_training(true);
  start_average();
  if (start.resume) resume(*start.resume);
  clock_.set_marks_gradients(strategy_->marks_gradients());
  for (const NamedTensor& entry : model.buffers()) {
    if (entry.tensor.is_cpu() && entry.tensor.scalar_type() == at::kLong) {
      host_counts_.push_back(entry.tensor);
    }
  }
  graph_record_ = Measured<GraphRecord>::missing(no_graph_reason(plan, options.device));
  clock_.start();
}

Trainer::~Trainer() = default;

std::unique_ptr<Strategy> Trainer::apply_strategy() {
  return make_strategy(plan_.parallelism, {.model = model_,
                                           .group = group_,
                                           .options = plan_.spec.parallelism,
                                           .engine = plan_.spec.engine,
                                           .narrow_type = precision_.autocast,
                                           .micro_batches = plan_.spec.accumulate,
                                           .more_devices = options_.more_devices,
                                           .make_replica = options_.make_replica,
                                           .on_gradients_computed = [this] {
                                             clock_.mark(Mark::kGradientsComputed);
                                           }});
}

/// After the strategy: all ranks have rank 0's weights by now. Buffers count on rank 0 alone.
void Trainer::start_average() {
  const double decay = plan_.spec.optimizer.ema_decay.value_or(0);
  if (decay == 0 || (rank_ != 0 && !strategy_->is_sharded())) return;
  std::vector<NamedTensor> state;
  for (const Slice& slice : slices_) state.push_back({slice.parameter.name, slice.values});
  for (NamedTensor& buffer : model_.buffers()) state.push_back(std::move(buffer));
  average_.emplace(state, decay);
}

Batch Trainer::micro_batch_of(const Batch& batch, std::int64_t index) const {
  Batch part;
  for (const NamedTensor& entry : batch.tensors) {
    part.tensors.push_back(
        {entry.name, entry.tensor.narrow(0, index * plan_.micro_batch, plan_.micro_batch)});
  }
  return part;
}

/// What the backward pass starts from. A gradient of `scale` for the loss is the gradient of the
/// scaled loss, one kernel cheaper; micro-batches have a share each.
at::Tensor Trainer::loss_gradient(const at::Tensor& loss) const {
  const auto share = 1.0 / static_cast<double>(plan_.spec.accumulate);
  if (share == 1) return scaler_ ? scaler_->scale() : at::Tensor();
  return scaler_ ? scaler_->scale() * share : at::full_like(loss, share);
}

/// Gradients add up over the micro-batches.
at::Tensor Trainer::forward_backward(const Batch& batch) {
  const std::int64_t count = plan_.spec.accumulate;
  at::Tensor sum;
  strategy_->before_step();
  for (std::int64_t i = 0; i < count; ++i) {
    const Batch part = count == 1 ? batch : micro_batch_of(batch, i);
    const bool is_last = i == count - 1;
    strategy_->before_forward();
    at::Tensor loss;
    {
      const NvtxRange range("forward");
      const AutocastGuard autocast(options_.device.type(), precision_.autocast);
      loss = strategy_->loss(part);
    }
    clock_.mark(Mark::kForwardEnd, i);
    strategy_->before_backward(is_last);
    {
      const NvtxRange range("backward");
      loss.backward(loss_gradient(loss));
    }
    strategy_->after_backward(is_last);
    clock_.mark(Mark::kBackwardEnd, i);
    sum = i == 0 ? loss.detach() : sum + loss.detach();
  }
  return count == 1 ? sum : sum / static_cast<double>(count);
}

void Trainer::seed_this_step() {
  const std::int64_t step = plan_.first_step + clock_.begun() - 1;
  seed_step(options_.device, plan_.spec.seed, rank_, step);
  for (int i = 1; const at::Device device : options_.more_devices) {
    if (device.is_cuda()) seed_step(device, plan_.spec.seed, rank_ + i++, step);
  }
}

/// All of a step's work that depends on nothing of the host: the same kernels in every step.
void Trainer::compute(const Batch& batch) {
  const at::Tensor loss = forward_backward(batch);
  const NvtxRange range("optimizer");
  optimizer_->step(reporter_.rates(), scaler_ ? &*scaler_ : nullptr);
  if (average_) average_->update();
  reporter_.advance(loss, scaler_ ? &*scaler_ : nullptr);
}

void Trainer::step() {
  while (clock_.begun() - clock_.harvested() >= kMaxAhead) harvest_one();
  const NvtxRange range("step");
  clock_.begin_step();
  seed_this_step();
  const Batch& batch = feed_.next();
  clock_.mark(Mark::kPrepared);
  if (graph_) {
    graph_->set_exchange_timed(is_timed_replay(clock_.begun()));
    replay();
  } else if (is_captured_next()) {
    capture(batch);
  } else {
    compute(batch);
  }
  clock_.end_step();
  harvest_passed();
}

void Trainer::harvest_passed() {
  while (clock_.can_harvest()) harvest_one();
}

void Trainer::harvest_one() {
  StepTime time = clock_.harvest();
  if (tracing_ != nullptr) return tracing_->add(time);
  if (graph_ && is_timed_replay(time.step + 1)) {
    exchange_ms_.push_back(graph_->exchange_ms(time.step + 1));
  }
  reports_.push_back(reporter_.report(time.step + 1));
  last_end_s_ = time.end_s;
  if (time.step == 0) first_step_end_s_ = time.end_s;
  if (recent_ms_.size() == kRecentSteps) recent_ms_.pop_front();
  recent_ms_.push_back(time.step_ms);
  if (time.step >= length_.warmup_steps) times_.push_back(std::move(time));
  if (clock_.harvested() == length_.warmup_steps) {
    measured_begin_s_ = last_end_s_;
    control_.measuring_began(measured_begin_s_);
  }
}

RunProgress Trainer::progress_now() const {
  RunProgress progress;
  progress.planned_steps = planned_steps_;
  progress.completed_steps = clock_.harvested();
  if (!times_.empty()) progress.measured_s = last_end_s_ - measured_begin_s_ - paused_s_;
  if (!recent_ms_.empty()) {
    std::vector<double> sorted(recent_ms_.begin(), recent_ms_.end());
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    progress.step_s = *middle / 1e3;
  }
  progress.stop = control_.stop_requested();
  return progress;
}

void Trainer::run() {
  if (length_.warmup_steps == 0) {
    measured_begin_s_ = clock_.last_end_s();
    control_.measuring_began(measured_begin_s_);
  }
  blocks_.announce(progress_now());
  for (Block block = blocks_.take();; block = blocks_.take()) {
    if (planned_steps_ == length_.warmup_steps) {
      loader_at_begin_ = loader_.stats();
      waited_at_begin_s_ = feed_.waited_s();
    }
    planned_steps_ += block.steps;
    if (!block.last) blocks_.announce(progress_now());
    for (std::int64_t i = 0; i < block.steps; ++i) step();
    if (block.steps > 0 && is_checkpoint_due()) checkpoint();
    was_stopped_ = block.stopped;
    if (block.last) break;
  }
  loader_at_end_ = loader_.stats();
  finish();
  end_training();
  if (!times_.empty()) control_.measuring_ended(last_end_s_);
}

void Trainer::finish() {
  while (clock_.harvested() < clock_.begun()) harvest_one();
}

TraceRecord Trainer::trace(std::int64_t steps) {
  StepTrace tracing(options_.device);
  tracing_ = &tracing;
  model_.set_training(true);
  strategy_->resume();
  clock_.start();
  for (std::int64_t i = 0; i < kTraceLeadSteps + steps; ++i) {
    step();
    control_.worked();
  }
  finish();
  tracing_ = nullptr;
  graph_.reset();
  return tracing.finish();
}

bool Trainer::is_checkpoint_due() const {
  const std::int64_t measured = clock_.begun() - length_.warmup_steps;
  return length_.checkpoint_steps && measured > 0 && measured % *length_.checkpoint_steps == 0;
}

}  // namespace falcon::train
