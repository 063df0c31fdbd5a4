// What a trainer keeps and goes on from: its state by slices, whole in a checkpoint.
#include <string>
#include <utility>

#include <ATen/ops/empty.h>

#include "models/weights.h"
#include "train/trainer.h"

namespace falcon::train {
namespace {

void add_below(const std::string& prefix, const std::vector<NamedTensor>& tensors,
               std::vector<NamedTensor>& all) {
  for (const NamedTensor& entry : tensors) all.push_back({prefix + entry.name, entry.tensor});
}

}  // namespace

/// Collective: the model and its averages are whole.
void Trainer::end_training() {
  memory_ = memory_now();
  // its memory is free for what comes after the training
  if (plan_.spec.trace.steps == 0) graph_.reset();
  strategy_->gather_model();
  if (!average_) return;
  const std::vector<NamedTensor>& all = average_->averages();
  SlicedState parts;
  for (std::size_t i = 0; i < slices_.size(); ++i) parts.parts.push_back(all[i].tensor);
  averages_ = whole(parts);
  if (rank_ != 0) return;
  averages_.insert(averages_.end(), all.begin() + static_cast<std::ptrdiff_t>(slices_.size()),
                   all.end());
}

/// Everything that the steps to come depend on, beside the position: what lies beside the slices,
/// by the prefix of its names.
std::vector<SlicedState> Trainer::sliced_state() const {
  std::vector<SlicedState> all(1);  // the parameters, under their own names
  for (const Slice& slice : slices_) all[0].parts.push_back(slice.values);
  for (SlicedState& state : optimizer_->state()) {
    all.push_back({"optimizer." + state.name + ".", std::move(state.parts)});
  }
  if (average_) {
    all.push_back({"average.", {}});
    for (std::size_t i = 0; i < slices_.size(); ++i) {
      all.back().parts.push_back(average_->averages()[i].tensor);
    }
  }
  return all;
}

/// And the rest.
std::vector<NamedTensor> Trainer::plain_state() const {
  std::vector<NamedTensor> all = model_.buffers();
  add_below("optimizer.", optimizer_->counts(), all);
  if (scaler_) add_below("loss_scale.", scaler_->state(), all);
  if (!average_) return all;
  const std::vector<NamedTensor>& averages = average_->averages();
  const auto buffers = averages.begin() + static_cast<std::ptrdiff_t>(slices_.size());
  add_below("average.", {buffers, averages.end()}, all);
  all.push_back({"average.updates", average_->updates()});
  return all;
}

/// Collective; under the names of the parameters behind the state's. None but on rank 0, where the
/// state is sharded.
std::vector<NamedTensor> Trainer::whole(const SlicedState& state) const {
  const std::vector<at::Tensor> tensors = strategy_->whole(state.parts);
  const std::vector<NamedTensor> parameters = model_.parameters();
  std::vector<NamedTensor> named;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    named.push_back({state.name + parameters[i].name, tensors[i]});
  }
  return named;
}

/// Every rank reads all of it, and keeps what is its own.
void Trainer::resume(const weights::SafetensorsFile& file) {
  const std::vector<SlicedState> sliced = sliced_state();
  std::vector<NamedTensor> all;
  for (const SlicedState& state : sliced) {
    for (std::size_t i = 0; const NamedTensor& parameter : model_.parameters()) {
      const at::Tensor place =
          strategy_->is_sharded()
              ? at::empty(parameter.tensor.sizes(), at::TensorOptions().dtype(options_.model_type))
              : state.parts[i++];
      all.push_back({state.name + parameter.name, place});
    }
  }
  const std::size_t count = all.size() / sliced.size();
  for (NamedTensor& entry : plain_state()) all.push_back(std::move(entry));
  models::load_exactly(file, all);
  for (std::size_t s = 0; s < sliced.size(); ++s) {
    std::vector<at::Tensor> tensors;
    for (std::size_t i = 0; i < count; ++i) tensors.push_back(all[s * count + i].tensor);
    strategy_->split(tensors, sliced[s].parts);
  }
  for (const Slice& slice : slices_) {
    if (slice.copy.defined()) slice.copy.copy_(slice.values);
  }
}

weights::CheckpointFacts Trainer::checkpoint_facts() const {
  weights::CheckpointFacts facts;
  facts.model = plan_.spec.model;
  facts.optimizer = plan_.spec.optimizer.kind.value_or("");
  facts.seed = plan_.spec.seed;
  facts.samples = plan_.data.samples;
  facts.global_batch = plan_.global_batch;
  facts.step = steps_done();
  facts.updates = reporter_.updates();
  return facts;
}

/// Between two steps; no step's time holds any of it, on no rank.
void Trainer::checkpoint() {
  finish();
  control_.entered("checkpoint");
  PauseRecord pause;
  pause.kind = kCheckpointPause;
  pause.step = steps_done();
  pause.begin_s = last_end_s_;
  std::vector<NamedTensor> all = plain_state();
  for (const SlicedState& state : sliced_state()) {
    for (NamedTensor& entry : whole(state)) all.push_back(std::move(entry));
    control_.worked();
  }
  if (rank_ == 0) {
    pause.file = plan_.files.checkpoint;
    pause.bytes = models::save_tensors(pause.file, all, weights::to_metadata(checkpoint_facts()),
                                       [this] { control_.worked(); });
  }
  if (group_ != nullptr) group_->wait_for_root("checkpoint", [this] { control_.worked(); });
  control_.entered("measure");
  clock_.start();
  pause.end_s = clock_.last_end_s();
  paused_s_ += pause.end_s - pause.begin_s;
  pauses_.push_back(std::move(pause));
}

}  // namespace falcon::train
