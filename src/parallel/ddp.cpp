#include <algorithm>
#include <cmath>
#include <vector>

#include <ATen/core/Tensor.h>

#include "comm/gradient_reducer.h"
#include "comm/process_group.h"
#include "parallel/catalog.h"
#include "parallel/strategies.h"
#include "parallel/undivided.h"

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

class Ddp : public Undivided {
 public:
  explicit Ddp(const StrategyContext& context)
      : Undivided(context),
        group_(*context.group),
        parameters_(tensors_of(context.model.parameters())) {
    const DdpSpec& ddp = context.options.ddp;
    options_ = {bytes_of_mib(ddp.bucket_mb), bytes_of_mib(ddp.first_bucket_mb),
                exchanged_type(context.engine.gradient_dtype), context.engine.allreduce == "on",
                context.on_gradients_computed};
    if (has_masters() && !options_.exchanged_type) options_.exchanged_type = at::kFloat;
    restart();
    exchanged_ = context.engine.allreduce == "off" ? "nothing" : context.engine.gradient_dtype;
    averaging_ = group_.backend() == comm::Backend::kNccl ? "ReduceOp::AVG" : "divided before sum";
  }

  void before_step() override {
    if (has_lost_hooks_) restart();
    drop_gradients();
    reducer_->before_forward();
  }
  void before_backward(bool is_last) override {
    if (is_last) reducer_->before_backward();
  }
  void restart() override {
    drop_gradients();
    reducer_.reset();  // its hooks go before the new ones come
    reducer_ = std::make_unique<comm::GradientReducer>(group_, parameters_, options_);
    has_lost_hooks_ = false;
  }
  /// Where parameters changed their type, autograd has new accumulators. Not before the next step
  /// is enqueued, if one is: a captured step goes on with the buckets that there are.
  void resume() override {
    Undivided::resume();
    has_lost_hooks_ = has_masters();
  }
  CommunicationCount last_step() const override {
    const comm::ReductionCount count = reducer_->last_pass();
    return {count.bytes, count.calls};
  }
  std::vector<double> busy_ms() const override { return reducer_->busy_ms(); }
  bool marks_gradients() const override { return true; }
  std::map<std::string, std::string> choices() const override {
    std::map<std::string, std::string> choices = Undivided::choices();
    choices["gradient_reduction"] = "c10d::Reducer, overlapped with the backward pass";
    choices["gradient_averaging"] = averaging_;
    choices["gradients_exchanged"] = exchanged_;
    return choices;
  }

 private:
  comm::ProcessGroup& group_;
  std::vector<at::Tensor> parameters_;
  comm::ReducerOptions options_;
  std::string averaging_;
  std::string exchanged_;
  bool has_lost_hooks_ = false;
  std::unique_ptr<comm::GradientReducer> reducer_;
};

/// ddp on one device: the same steps without anybody to talk to.
class LonelyDdp : public Undivided {
 public:
  using Undivided::Undivided;
  std::map<std::string, std::string> choices() const override {
    std::map<std::string, std::string> choices = Undivided::choices();
    choices["gradient_reduction"] = "none: one rank";
    return choices;
  }
};

}  // namespace

std::unique_ptr<Strategy> make_ddp(const StrategyContext& context) {
  if (context.group == nullptr || context.group->world() == 1) {
    return std::make_unique<LonelyDdp>(context);
  }
  return std::make_unique<Ddp>(context);
}

}  // namespace falcon::parallel
