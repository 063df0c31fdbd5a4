#include <algorithm>
#include <cmath>
#include <vector>

#include <ATen/core/Tensor.h>

#include "comm/gradient_reducer.h"
#include "comm/process_group.h"
#include "parallel/strategies.h"

namespace falcon::parallel {
namespace {

std::int64_t bytes_of_mib(double mib) {
  return std::max<std::int64_t>(1, std::llround(mib * 1024 * 1024));
}

std::vector<at::Tensor> tensors_of(const std::vector<NamedTensor>& named) {
  std::vector<at::Tensor> tensors;
  for (const NamedTensor& entry : named) tensors.push_back(entry.tensor);
  return tensors;
}

/// Step counts stay on the host whatever the device; they are the same everywhere anyway.
std::vector<at::Tensor> tensors_on(at::Device device, const std::vector<NamedTensor>& named) {
  std::vector<at::Tensor> tensors;
  for (const NamedTensor& entry : named) {
    if (entry.tensor.device() == device) tensors.push_back(entry.tensor.detach());
  }
  return tensors;
}

/// Nothing: the gradients' own.
std::optional<at::ScalarType> exchanged_type(std::string_view word) {
  if (word == "fp16") return at::kHalf;
  if (word == "bf16") return at::kBFloat16;
  return {};
}

class Ddp : public Strategy {
 public:
  explicit Ddp(const StrategyContext& context) : options_(context.options.ddp) {
    comm::ProcessGroup& group = *context.group;
    const std::vector<at::Tensor> parameters = tensors_of(context.model.parameters());
    group.check_same_layout(parameters);
    group.broadcast_all(tensors_on(group.device(), context.model.state()), 0);
    reducer_ = std::make_unique<comm::GradientReducer>(
        group, parameters,
        comm::ReducerOptions{bytes_of_mib(options_.bucket_mb),
                             bytes_of_mib(options_.first_bucket_mb),
                             exchanged_type(context.engine.gradient_dtype),
                             context.engine.allreduce == "on", context.on_gradients_computed});
    exchanged_ = context.engine.allreduce == "off" ? "nothing" : context.engine.gradient_dtype;
    averaging_ = group.backend() == comm::Backend::kNccl ? "ReduceOp::AVG" : "divided before sum";
  }

  void before_forward() override { reducer_->before_forward(); }
  void before_backward() override { reducer_->before_backward(); }
  CommunicationCount last_step() const override {
    const comm::ReductionCount count = reducer_->last_pass();
    return {count.bytes, count.calls};
  }
  std::vector<double> busy_ms() const override { return reducer_->busy_ms(); }
  bool marks_gradients() const override { return true; }
  std::map<std::string, std::string> choices() const override {
    return {{"gradient_reduction", "c10d::Reducer, overlapped with the backward pass"},
            {"gradient_averaging", averaging_},
            {"gradients_exchanged", exchanged_}};
  }

 private:
  DdpSpec options_;
  std::string averaging_;
  std::string exchanged_;
  std::unique_ptr<comm::GradientReducer> reducer_;
};

/// ddp on one device: the same steps without anybody to talk to.
class LonelyDdp : public Strategy {
 public:
  void before_forward() override {}
  void before_backward() override {}
  CommunicationCount last_step() const override { return {}; }
  std::vector<double> busy_ms() const override { return {}; }
  bool marks_gradients() const override { return false; }
  std::map<std::string, std::string> choices() const override {
    return {{"gradient_reduction", "none: one rank"}};
  }
};

}  // namespace

std::unique_ptr<Strategy> make_ddp(const StrategyContext& context) {
  if (context.group == nullptr || context.group->world() == 1) return std::make_unique<LonelyDdp>();
  return std::make_unique<Ddp>(context);
}

}  // namespace falcon::parallel
