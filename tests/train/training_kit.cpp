#include "train/training_kit.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/relu.h>

#include "data/options.h"
#include "models/initialization.h"
#include "models/state.h"
#include "ops/basic.h"

namespace falcon::test {
namespace {

class TinyModel : public Model {
 public:
  explicit TinyModel(std::int64_t classes) {
    tensors_ = {{"filter", at::empty({8, 3, 3, 3})},
                {"weight", at::empty({classes, 8})},
                {"bias", at::empty({classes})}};
    for (NamedTensor& entry : tensors_) entry.tensor.set_requires_grad(true);
  }
  std::vector<at::Tensor> forward(const Batch& batch) override {
    const at::Tensor maps =
        at::relu(ops::conv2d(batch["images"], tensors_[0].tensor, {.stride = 2, .padding = 1}));
    const at::Tensor features = ops::global_avg_pool(maps).flatten(1);
    return {ops::linear(features, tensors_[1].tensor, tensors_[2].tensor)};
  }
  at::Tensor loss(const std::vector<at::Tensor>& outputs, const Batch& batch) override {
    return ops::cross_entropy(outputs[0], batch["labels"]);
  }
  std::vector<NamedTensor> parameters() const override { return tensors_; }
  std::vector<NamedTensor> buffers() const override { return {}; }
  std::vector<NamedTensor> state() const override { return tensors_; }
  void set_training(bool) override {}
  void set_tap(TapFunction) override {}
  void set_fused(bool) override {}
  void to(at::Device device, at::ScalarType type, bool channels_last) override {
    for (const NamedTensor& entry : tensors_) {
      models::move_tensor(entry.tensor, device, type, channels_last);
    }
  }
  void initialize(std::uint64_t seed) override {
    const at::NoGradGuard no_grad;
    for (const NamedTensor& entry : tensors_) {
      models::fill_normal(entry.tensor, 0.3, seed, entry.name);
    }
  }

 private:
  std::vector<NamedTensor> tensors_;
};

}  // namespace

std::unique_ptr<Model> make_tiny_model(std::int64_t classes) {
  return std::make_unique<TinyModel>(classes);
}

Plan small_plan(int world, std::int64_t batch_per_rank) {
  Plan plan;
  plan.spec.model_options.classes = 10;
  plan.spec.image_size = 32;
  plan.spec.seed = 3;
  plan.spec.precision = "fp32";
  plan.spec.optimizer.kind = "sgd";
  plan.spec.optimizer.lr = 0.05;
  plan.spec.optimizer.momentum = 0.9;
  plan.spec.optimizer.weight_decay = 1e-4;
  plan.spec.schedule.kind = "constant";
  plan.spec.data.samples = 4096;
  plan.parallelism = world > 1 ? "ddp" : "none";
  plan.ranks.resize(static_cast<std::size_t>(world));
  plan.micro_batch = batch_per_rank;
  plan.batch_per_rank = batch_per_rank;
  plan.global_batch = batch_per_rank * world;
  plan.steps_per_epoch = *plan.spec.data.samples / plan.global_batch;
  plan.warmup_steps = 2;
  plan.measured_steps = 5;
  return plan;
}

Rank::Rank(const Plan& plan, std::unique_ptr<Model> model, comm::ProcessGroup* group,
           const train::TrainerOptions& options)
    : plan_(plan), model_(std::move(model)), allocator_(options.device.is_cuda()) {
  dataset_ =
      data::make_dataset(data::dataset_options(plan_.spec, "", *plan_.spec.model_options.classes));
  const data::BatchSchedule schedule({.samples = dataset_->size(),
                                      .global_batch = plan_.global_batch,
                                      .ranks = static_cast<int>(plan_.ranks.size()),
                                      .rank = group == nullptr ? 0 : group->rank(),
                                      .seed = static_cast<std::uint64_t>(plan_.spec.seed)});
  loader_ = std::make_unique<data::Loader>(
      *dataset_, schedule, allocator_,
      data::LoaderOptions{
          .threads = plan_.ranks[0].decode_threads, .slots = 6, .first_step = plan_.first_step});
  model_->initialize(static_cast<std::uint64_t>(plan_.spec.seed));
  model_->to(options.device, options.model_type, options.channels_last);
  trainer_ = std::make_unique<train::Trainer>(plan_, *model_, group, *loader_, dataset_->layout(),
                                              options, control_);
}

WorkerRecords Rank::records() const {
  WorkerRecords records;
  trainer_->fill(records);
  return records;
}

WorkerRecords run_alone(const Plan& plan, std::unique_ptr<Model> model,
                        const train::TrainerOptions& options) {
  Rank rank(plan, std::move(model), nullptr, options);
  rank.trainer().run();
  return rank.records();
}

}  // namespace falcon::test
