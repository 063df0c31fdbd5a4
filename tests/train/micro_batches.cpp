#include "train/micro_batches.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include "data/options.h"
#include "ops/image_prepare.h"
#include "train/training_kit.h"

namespace falcon::test {
namespace {

constexpr std::int64_t kBatch = kSliceBatch;
// Large enough that the last maps are not single pixels: statistics over 4 values would make the
// steps chaotic, and rounding would show.
constexpr std::int64_t kSide = 64;

class MicroBatches {
 public:
  MicroBatches(const Plan& plan, std::unique_ptr<Model> model)
      : slices_(static_cast<std::int64_t>(plan.ranks.size()) * plan.spec.accumulate),
        slices_of_root_(plan.spec.accumulate),
        model_(std::move(model)),
        allocator_(false),
        dataset_(data::make_dataset(data::dataset_options(plan.spec, "", 10))),
        loader_(*dataset_,
                data::BatchSchedule({.samples = dataset_->size(),
                                     .global_batch = plan.global_batch,
                                     .seed = static_cast<std::uint64_t>(plan.spec.seed)}),
                allocator_, {.threads = 1, .slots = 2}) {
    model_->initialize(static_cast<std::uint64_t>(plan.spec.seed));
    model_->to(at::kCPU, at::kDouble, false);
    for (const NamedTensor& entry : model_->parameters()) {
      velocities_.push_back(at::zeros_like(entry.tensor));
    }
  }

  void step(const OptimizerSpec& optimizer) {
    const data::LoadedBatch& loaded = loader_.next();
    for (const NamedTensor& entry : model_->parameters()) entry.tensor.mutable_grad().reset();
    std::vector<at::Tensor> sums;
    for (std::int64_t slice = 0; slice < slices_; ++slice) add_slice(loaded, slice, sums);
    loader_.release(loaded);
    const at::NoGradGuard no_grad;
    const std::vector<NamedTensor> parameters = model_->parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      at::Tensor value = parameters[i].tensor;
      value.mutable_grad() = sums[i] / static_cast<double>(slices_);
      velocities_[i] = velocities_[i] * *optimizer.momentum + value.grad() +
                       value.detach() * *optimizer.weight_decay;
      value.sub_(velocities_[i] * *optimizer.lr);
    }
  }

  Batch first_batch() {
    const data::LoadedBatch& loaded = loader_.next();
    Batch batch = batch_of(loaded, 0);
    loader_.release(loaded);
    return batch;
  }
  Model& model() { return *model_; }

 private:
  void add_slice(const data::LoadedBatch& loaded, std::int64_t slice,
                 std::vector<at::Tensor>& sums) {
    const Outcome before = slice < slices_of_root_ ? Outcome{} : buffers();
    Batch batch = batch_of(loaded, slice);
    model_->loss(model_->forward(batch), batch).backward();
    const at::NoGradGuard no_grad;
    std::size_t i = 0;
    for (const NamedTensor& entry : model_->parameters()) {
      if (slice == 0) sums.push_back(at::zeros_like(entry.tensor));
      sums[i++].add_(entry.tensor.grad());
      entry.tensor.mutable_grad().reset();
    }
    i = 0;
    for (const NamedTensor& entry : model_->buffers()) {
      if (slice >= slices_of_root_) entry.tensor.copy_(before.buffers[i++]);
    }
  }

  Outcome buffers() {
    Outcome outcome;
    for (const NamedTensor& entry : model_->buffers()) {
      outcome.buffers.push_back(entry.tensor.clone());
    }
    return outcome;
  }

  Batch batch_of(const data::LoadedBatch& loaded, std::int64_t slice) const {
    const std::vector<TensorLayout> layout = dataset_->layout();
    const auto rows = [&](std::size_t i) {
      std::vector<std::int64_t> shape = layout[i].sample_shape;
      shape.insert(shape.begin(), slices_ * kBatch);
      const at::ScalarType type = layout[i].type == ElementType::kUint8     ? at::kByte
                                  : layout[i].type == ElementType::kFloat32 ? at::kFloat
                                                                            : at::kLong;
      return at::from_blob(loaded.tensors[i], shape, type).narrow(0, slice * kBatch, kBatch);
    };
    Batch batch;
    for (std::size_t i = 0; i < layout.size(); ++i) {
      if (layout[i].name == "flip") continue;
      batch.tensors.push_back({layout[i].name, rows(i).clone()});
    }
    if (layout[0].name == "images") {
      const at::Tensor flip = layout.size() > 2 ? rows(2) : at::Tensor();
      const at::Tensor pictures = at::empty({kBatch, 3, kSide, kSide}, at::kDouble);
      ops::prepare_images_plain(rows(0), flip, model_->image_normalization(), pictures);
      batch.tensors[0].tensor = pictures;
    }
    return batch;
  }

  std::int64_t slices_;
  std::int64_t slices_of_root_;
  std::unique_ptr<Model> model_;
  train::HostAllocator allocator_;
  std::unique_ptr<Dataset> dataset_;
  data::Loader loader_;
  std::vector<at::Tensor> velocities_;
};

}  // namespace

Outcome outcome_of(Model& model) {
  Outcome outcome;
  for (const NamedTensor& entry : model.parameters()) {
    outcome.parameters.push_back(entry.tensor.detach().clone());
    if (entry.tensor.grad().defined()) outcome.gradients.push_back(entry.tensor.grad().clone());
  }
  for (const NamedTensor& entry : model.buffers()) outcome.buffers.push_back(entry.tensor.clone());
  return outcome;
}

std::unique_ptr<Model> compared_model(const std::string& name, int slices) {
  ModelOptions options;
  options.classes = 10;
  options.ranks = slices;
  if (name == "mobilenet_v2" || name.starts_with("bert")) options.dropout = 0;
  options.layers = 2;  // of the transformers
  options.hidden_size = 16;
  options.heads = 2;
  options.width = 0.25;  // of the others
  return make_model(name, options);
}

Plan compared_plan(const std::string& name, const Split& split) {
  Plan plan = small_plan(split.ranks, kBatch * split.micro_batches);
  plan.spec.accumulate = split.micro_batches;
  plan.micro_batch = kBatch;
  plan.spec.model = name;
  plan.spec.image_size = kSide;
  plan.spec.sequence_length = 24;
  plan.spec.optimizer.lr = 1e-4;
  plan.spec.parallelism.ddp.first_bucket_mb = 0.01;  // the transformer's layers are small, too
  plan.warmup_steps = 1;
  plan.measured_steps = kComparedSteps - 1;
  return plan;
}

train::TrainerOptions float64() {
  train::TrainerOptions options;
  options.model_type = at::kDouble;
  return options;
}

Outcome of_micro_batches(const std::string& name, const Split& split) {
  const Plan plan = compared_plan(name, split);
  MicroBatches reference(plan, compared_model(name, split.slices()));
  for (int step = 0; step < kComparedSteps; ++step) reference.step(plan.spec.optimizer);
  return outcome_of(reference.model());
}

Batch compared_batch(const std::string& name) {
  Batch batch = MicroBatches(compared_plan(name, {}), compared_model(name, 1)).first_batch();
  for (NamedTensor& entry : batch.tensors) {
    if (entry.tensor.scalar_type() == at::kDouble) entry.tensor = entry.tensor.to(at::kFloat);
  }
  return batch;
}

void expect_near(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& want,
                 const char* what) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double size = want[i].abs().max().item<double>();
    const double error = (got[i] - want[i]).abs().max().item<double>();
    EXPECT_LE(error, 1e-9 * std::max(1.0, size)) << what << " " << i;
  }
}

}  // namespace falcon::test
