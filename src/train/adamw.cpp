#include "train/adamw.h"

#include <ATen/ops/zeros.h>

#include "ops/parameter_update.h"

namespace falcon::train {
namespace {

class AdamW : public Optimizer {
 public:
  AdamW(std::vector<Slice> slices, const at::TensorOptions& type, const OptimizerSpec& options,
        const RateRows& rows)
      : Optimizer(std::move(slices), type, options, rows),
        beta1_(options.beta1.value_or(0)),
        beta2_(options.beta2.value_or(0)),
        eps_(options.eps.value_or(0)),
        exp_avgs_(zeros_by_group()),
        exp_avg_sqs_(zeros_by_group()) {
    // one count for all: every update changes every parameter
    count_ = at::zeros({}, type.dtype(at::kFloat));
  }

  std::vector<SlicedState> state() const override {
    return {sliced("exp_avg", exp_avgs_), sliced("exp_avg_sq", exp_avg_sqs_)};
  }
  std::vector<NamedTensor> counts() const override { return {{"step", count_}}; }

 protected:
  void begin(const Update& update) override {
    count_.add_(1);
    if (update.found_inf) count_.sub_(*update.found_inf);
  }
  void update(const Update& update, std::size_t g, const at::Tensor& lr) override {
    const ops::AdamWUpdate job{.lr = lr,
                               .count = count_,
                               .beta1 = beta1_,
                               .beta2 = beta2_,
                               .eps = eps_,
                               .weight_decay = groups()[g].weight_decay,
                               .grad_scale = update.scale,
                               .found_inf = update.found_inf};
    ops::adamw_update(groups()[g].tensors(), exp_avgs_[g], exp_avg_sqs_[g], job);
  }

 private:
  double beta1_;
  double beta2_;
  double eps_;
  at::Tensor count_;  // float32 scalar, as the kernels take it
  std::vector<std::vector<at::Tensor>> exp_avgs_;
  std::vector<std::vector<at::Tensor>> exp_avg_sqs_;
};

}  // namespace

std::unique_ptr<Optimizer> make_adamw(std::vector<Slice> slices, const at::TensorOptions& type,
                                      const OptimizerSpec& options, const RateRows& rows) {
  return std::make_unique<AdamW>(std::move(slices), type, options, rows);
}

}  // namespace falcon::train
