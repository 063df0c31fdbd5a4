#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ThreadLocalState.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "parallel/strategies.h"
#include "parallel/unit_layout.h"

namespace falcon::parallel {
namespace {

at::Tensor view_like(const at::Tensor& tensor, const at::Tensor& flat, std::int64_t begin) {
  return flat.as_strided(tensor.sizes(), tensor.strides(), begin);
}

/// A model whose floating state lies in one buffer, so that one copy carries all of it.
class Replica {
 public:
  Replica(Model& model, at::Device device) : model_(&model), device_(device) { lay_out(); }
  /// On a GPU with a stream of its own, which becomes this thread's for that GPU.
  Replica(std::unique_ptr<Model> model, at::Device device)
      : owned_(std::move(model)), model_(owned_.get()), device_(device) {
    if (device_.is_cuda()) {
      const c10::cuda::CUDAGuard guard(device_);
      c10::cuda::device_synchronize();  // the model came on another stream
      stream_ = c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device_.index());
      c10::cuda::setCurrentCUDAStream(*stream_);
    }
    lay_out();
  }

  Model& model() const { return *model_; }
  at::Device device() const { return device_; }
  const at::Tensor& values() const { return values_; }
  const at::Tensor& gradients() const { return gradients_; }

  void drop_gradients() const {
    for (const NamedTensor& p : model_->parameters()) p.tensor.mutable_grad().reset();
  }
  void collect_gradients() const {
    std::vector<at::Tensor> list;
    for (const NamedTensor& p : model_->parameters()) list.push_back(p.tensor.grad());
    at::_foreach_copy_(gradient_views_, list);
  }
  /// The gradients of the parameters are those collected.
  void give_gradients() const {
    for (std::size_t i = 0; const NamedTensor& p : model_->parameters()) {
      p.tensor.mutable_grad() = gradient_views_[i++];
    }
  }
  at::Tensor loss(const Batch& batch) const {
    const std::optional<c10::cuda::CUDAGuard> guard =
        device_.is_cuda() ? std::make_optional<c10::cuda::CUDAGuard>(device_) : std::nullopt;
    if (stream_) c10::cuda::setCurrentCUDAStream(*stream_);
    return model_->loss(model_->forward(batch), batch);
  }

 private:
  void lay_out() {
    const at::NoGradGuard no_grad;
    std::int64_t size = 0;
    std::int64_t gradient_size = 0;
    const auto visit = [](const std::vector<NamedTensor>& list, auto action) {
      for (const NamedTensor& entry : list) {
        if (entry.tensor.is_floating_point()) action(entry.tensor);
      }
    };
    visit(model_->state(), [&](const at::Tensor& t) { size += aligned(t.numel()); });
    visit(model_->parameters(), [&](const at::Tensor& t) { gradient_size += aligned(t.numel()); });
    const at::TensorOptions options =
        model_->parameters().front().tensor.options().requires_grad(false);
    values_ = at::zeros({size}, options);
    gradients_ = at::zeros({gradient_size}, options);
    std::int64_t begin = 0;
    visit(model_->parameters(), [&](const at::Tensor& t) {
      gradient_views_.push_back(view_like(t, gradients_, begin));
      begin += aligned(t.numel());
    });
    begin = 0;
    visit(model_->state(), [&](const at::Tensor& t) {
      const at::Tensor view = view_like(t, values_, begin);
      view.copy_(t);
      t.set_data(view);
      begin += aligned(t.numel());
    });
  }

  std::unique_ptr<Model> owned_;
  Model* model_;
  at::Device device_;
  std::optional<c10::cuda::CUDAStream> stream_;
  at::Tensor values_;
  at::Tensor gradients_;
  std::vector<at::Tensor> gradient_views_;
};

/// As torch.nn.DataParallel: in every step the state goes out to all devices, each computes its
/// part of the batch in a thread of its own, and losses and gradients come back. A replica gives
/// its loss, not its outputs.
class Dp : public Strategy {
 public:
  explicit Dp(const StrategyContext& context)
      : Strategy(context.model), on_gradients_computed_(context.on_gradients_computed) {
    const at::Device first = context.model.parameters().front().tensor.device();
    replicas_.push_back(std::make_unique<Replica>(context.model, first));
    for (const at::Device device : context.more_devices) {
      replicas_.push_back(std::make_unique<Replica>(context.make_replica(device), device));
      replicas_.back()->model().set_training(true);
    }
  }

  void before_step() override {
    const at::NoGradGuard no_grad;
    for (const auto& replica : replicas_) {
      replica->drop_gradients();
      if (replica == replicas_.front()) continue;
      replica->values().copy_(replicas_.front()->values(), /*non_blocking=*/true);
    }
  }

  at::Tensor loss(const Batch& batch) override {
    const std::vector<at::Tensor> losses = losses_of(scatter(batch));
    at::Tensor sum = losses[0];
    for (std::size_t i = 1; i < losses.size(); ++i) {
      sum = sum + losses[i].to(losses[0].device(), /*non_blocking=*/true);
    }
    return losses.size() == 1 ? sum : sum / static_cast<double>(losses.size());
  }

  void after_backward(bool is_last) override {
    if (!is_last) return;
    const at::NoGradGuard no_grad;
    if (on_gradients_computed_) on_gradients_computed_();
    if (replicas_.size() == 1) return;
    const Replica& root = *replicas_.front();
    for (const auto& replica : replicas_) {
      replica->collect_gradients();
      if (replica == replicas_.front()) continue;
      root.gradients().add_(replica->gradients().to(root.device(), /*non_blocking=*/true));
    }
    root.give_gradients();
  }

  CommunicationCount last_step() const override {
    const Replica& root = *replicas_.front();
    const auto others = static_cast<std::int64_t>(replicas_.size()) - 1;
    const std::size_t bytes = root.values().nbytes() + root.gradients().nbytes();
    return {others * static_cast<std::int64_t>(bytes), others * 2};
  }
  bool marks_gradients() const override { return replicas_.size() > 1; }
  std::map<std::string, std::string> choices() const override {
    return {
        {"gradient_reduction", "copied to the first device and added there"},
        {"replicas", std::to_string(replicas_.size()) + ", state copied to them in every step"}};
  }

 private:
  /// Equal parts, each on its replica's device.
  std::vector<Batch> scatter(const Batch& batch) const {
    const auto count = static_cast<std::int64_t>(replicas_.size());
    std::vector<Batch> parts(replicas_.size());
    for (const NamedTensor& entry : batch.tensors) {
      const std::int64_t size = entry.tensor.size(0) / count;
      for (std::int64_t i = 0; i < count; ++i) {
        const auto index = static_cast<std::size_t>(i);
        const at::Tensor part = entry.tensor.narrow(0, i * size, size);
        parts[index].tensors.push_back(
            {entry.name, part.to(replicas_[index]->device(), /*non_blocking=*/true)});
      }
    }
    return parts;
  }

  std::vector<at::Tensor> losses_of(const std::vector<Batch>& parts) const {
    std::vector<at::Tensor> losses(parts.size());
    if (!replicas_.front()->device().is_cuda()) {  // its operators have threads of their own
      for (std::size_t i = 0; i < parts.size(); ++i) losses[i] = replicas_[i]->loss(parts[i]);
      return losses;
    }
    std::vector<std::exception_ptr> errors(parts.size());
    const at::ThreadLocalState state;
    const auto compute = [&](std::size_t i) {
      try {
        losses[i] = replicas_[i]->loss(parts[i]);
      } catch (const std::exception&) {
        errors[i] = std::current_exception();
      }
    };
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      threads.emplace_back([&, i] {
        const at::ThreadLocalStateGuard guard(state);  // autocast
        compute(i);
      });
    }
    compute(0);
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
    return losses;
  }

  std::vector<std::unique_ptr<Replica>> replicas_;  // the first is the trainer's model
  std::function<void()> on_gradients_computed_;
};

}  // namespace

std::unique_ptr<Strategy> make_dp(const StrategyContext& context) {
  return std::make_unique<Dp>(context);
}

}  // namespace falcon::parallel
