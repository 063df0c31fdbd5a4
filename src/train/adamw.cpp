#include "train/adamw.h"

#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/zeros.h>

namespace falcon::train {
namespace {

class AdamW : public Optimizer {
 public:
  AdamW(std::vector<NamedTensor> parameters, const OptimizerSpec& options, const RateRows& rows)
      : Optimizer(std::move(parameters), options, rows),
        beta1_(options.beta1.value_or(0)),
        beta2_(options.beta2.value_or(0)),
        eps_(options.eps.value_or(0)),
        exp_avgs_(zeros_by_group()),
        exp_avg_sqs_(zeros_by_group()) {
    // one count for all: every update changes every parameter
    count_ = at::zeros(
        {},
        at::TensorOptions().dtype(at::kFloat).device(this->parameters().front().tensor.device()));
    for (const Group& group : groups()) counts_.emplace_back(group.parameters.size(), count_);
  }

  std::vector<NamedTensor> state() const override {
    std::vector<NamedTensor> all{{"step", count_}};
    for (NamedTensor& entry : named("exp_avg", exp_avgs_)) all.push_back(std::move(entry));
    for (NamedTensor& entry : named("exp_avg_sq", exp_avg_sqs_)) all.push_back(std::move(entry));
    return all;
  }

 protected:
  void begin(const Update& update) override {
    count_.add_(1);
    if (update.found_inf) count_.sub_(*update.found_inf);
  }
  void update(const Update& update, std::size_t g, const at::Tensor& lr) override {
    at::_fused_adamw_(groups()[g].parameters, groups()[g].gradients, exp_avgs_[g], exp_avg_sqs_[g],
                      /*max_exp_avg_sqs=*/{}, counts_[g], lr, beta1_, beta2_,
                      groups()[g].weight_decay, eps_, /*amsgrad=*/false, /*maximize=*/false,
                      update.scale, update.found_inf);
  }

 private:
  double beta1_;
  double beta2_;
  double eps_;
  at::Tensor count_;                             // float32 scalar, as the kernel takes it
  std::vector<std::vector<at::Tensor>> counts_;  // count_ for each parameter
  std::vector<std::vector<at::Tensor>> exp_avgs_;
  std::vector<std::vector<at::Tensor>> exp_avg_sqs_;
};

}  // namespace

std::unique_ptr<Optimizer> make_adamw(std::vector<NamedTensor> parameters,
                                      const OptimizerSpec& options, const RateRows& rows) {
  return std::make_unique<AdamW>(std::move(parameters), options, rows);
}

}  // namespace falcon::train
