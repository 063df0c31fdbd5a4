#include "train/sgd.h"

#include "ops/parameter_update.h"

namespace falcon::train {
namespace {

class Sgd : public Optimizer {
 public:
  Sgd(std::vector<Slice> slices, const at::TensorOptions& type, const OptimizerSpec& options,
      const RateRows& rows)
      : Optimizer(std::move(slices), type, options, rows),
        follows_schedule_(rows.momentum_varies()),
        momentum_(options.momentum.value_or(0)),
        nesterov_(options.nesterov.value_or(false)),
        // Zeros, not "first step": were the first step skipped by loss scaling, the buffers would
        // stay unset.
        velocities_(zeros_by_group()) {
    if (has_velocities()) return;
    for (auto& group : velocities_) group.clear();
  }

  std::vector<SlicedState> state() const override {
    if (!has_velocities()) return {};
    return {sliced("momentum", velocities_)};
  }

 protected:
  void update(const Update& update, std::size_t g, const at::Tensor& lr) override {
    ops::MomentumUpdate job;
    job.lr = lr;
    job.momentum = momentum_;
    if (follows_schedule_) job.varying_momentum = update.rates.momentum;
    job.weight_decay = groups()[g].weight_decay;
    job.nesterov = nesterov_;
    job.grad_scale = update.scale;
    job.found_inf = update.found_inf;
    ops::momentum_update(groups()[g].tensors(), velocities_[g], job);
  }

 private:
  bool has_velocities() const { return momentum_ != 0 || follows_schedule_; }

  bool follows_schedule_;
  double momentum_;
  bool nesterov_;
  std::vector<std::vector<at::Tensor>> velocities_;
};

}  // namespace

std::unique_ptr<Optimizer> make_sgd(std::vector<Slice> slices, const at::TensorOptions& type,
                                    const OptimizerSpec& options, const RateRows& rows) {
  return std::make_unique<Sgd>(std::move(slices), type, options, rows);
}

}  // namespace falcon::train
