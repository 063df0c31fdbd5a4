#include "comm/gradient_reducer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "comm/c10d_group.h"
#include "comm/pass_timer.h"

namespace falcon::comm {
namespace {

/// Shared by the reducer's owner and its hook. One thread at a time: the backward pass.
struct HookState {
  c10::intrusive_ptr<c10d::ProcessGroup> group;
  int world = 1;
  bool group_averages = false;
  bool exchanges = true;
  std::optional<at::ScalarType> exchanged_type;
  std::function<void()> on_gradients_computed;
  ReductionCount current;
  ReductionCount complete;
  PassTimer timer{false};
};

using FuturePtr = c10::intrusive_ptr<c10::ivalue::Future>;

/// Over before it began: the bucket as it is.
FuturePtr keep(const at::Tensor& bucket) {
  std::vector<c10::Device> devices;
  if (bucket.is_cuda()) devices.push_back(bucket.device());
  auto future = c10::make_intrusive<c10::ivalue::Future>(
      c10::ListType::create(c10::TensorType::get()), std::move(devices));
  future->markCompleted(c10::IValue(std::vector<at::Tensor>{bucket}));
  return future;
}

/// The reduced copy is written back when it is there.
FuturePtr write_back(const FuturePtr& reduced, at::Tensor bucket) {
  return reduced->then(
      [bucket](c10::ivalue::Future& done) {
        bucket.copy_(done.value().toTensorVector().at(0));
        return c10::IValue(std::vector<at::Tensor>{bucket});
      },
      reduced->elementType());
}

/// A registered hook has to divide by the number of ranks itself. NCCL scales each summand before
/// adding, so scaled fp16 gradients cannot overflow; Gloo cannot, so they are divided here.
class AverageHook : public c10d::CppCommHookInterface<std::shared_ptr<HookState>> {
 public:
  using CppCommHookInterface::CppCommHookInterface;

  FuturePtr runHook(c10d::GradBucket& bucket) override {
    HookState& state = *state_;
    at::Tensor& buffer = bucket.getBufferRef();
    if (bucket.getIndex() == 0) begin_pass();
    const bool is_last = bucket.isLast();
    if (!state.exchanges) {
      if (is_last) end_pass();
      return keep(buffer);
    }
    std::vector<at::Tensor> sent{as_sent(buffer)};
    state.current.bytes += static_cast<std::int64_t>(sent[0].nbytes());
    state.current.calls += 1;
    if (is_last) end_pass();
    c10d::AllreduceOptions options;
    options.reduceOp = state.group_averages ? c10d::ReduceOp::AVG : c10d::ReduceOp::SUM;
    const c10::intrusive_ptr<c10d::Work> work = state.group->allreduce(sent, options);
    FuturePtr future = work->getFuture();
    if (is_timed()) state.timer.add(work, future);
    return sent[0].is_same(buffer) ? future : write_back(future, buffer);
  }

 private:
  /// Divided, if need be, in the wider one of both types.
  at::Tensor as_sent(const at::Tensor& bucket) const {
    const at::ScalarType type = state_->exchanged_type.value_or(bucket.scalar_type());
    const bool widens = c10::elementSize(type) > c10::elementSize(bucket.scalar_type());
    at::Tensor sent = widens ? bucket.to(type) : bucket;
    if (!state_->group_averages) sent.div_(state_->world);
    return sent.to(type);
  }
  /// A captured collective has no time of its own: it runs in every replay.
  bool is_timed() const {
    return state_->exchanges &&
           (!state_->group_averages ||
            c10::cuda::currentStreamCaptureStatusMayInitCtx() == c10::cuda::CaptureStatus::None);
  }
  void begin_pass() {
    state_->current = {};
    if (is_timed()) state_->timer.begin_pass();
  }
  void end_pass() {
    state_->complete = state_->current;
    if (state_->on_gradients_computed) state_->on_gradients_computed();
  }
};

std::shared_ptr<c10d::Reducer> make_reducer(const c10::intrusive_ptr<c10d::ProcessGroup>& group,
                                            std::vector<at::Tensor> parameters,
                                            const ReducerOptions& options) {
  const std::size_t first = static_cast<std::size_t>(options.first_bucket_bytes);
  const std::size_t limit = static_cast<std::size_t>(options.bucket_bytes);
  auto [buckets, limits] = c10d::compute_bucket_assignment_by_size(parameters, {first, limit});
  std::reverse(buckets.begin(), buckets.end());  // gradients come from the last layer first
  std::vector<bool> expect_sparse(parameters.size(), false);
  return std::make_shared<c10d::Reducer>(
      std::move(parameters), std::move(buckets), group, std::move(expect_sparse),
      options.bucket_bytes, /*find_unused_parameters=*/false, /*gradient_as_bucket_view=*/true,
      std::unordered_map<std::size_t, std::string>{}, options.first_bucket_bytes,
      /*skip_all_reduce_unused_params=*/false, /*use_python_reducer=*/false,
      std::vector<std::int64_t>{});
}

}  // namespace

struct GradientReducer::Impl {
  std::shared_ptr<HookState> state;
  std::shared_ptr<c10d::Reducer> reducer;  // looks at itself through a weak_ptr
};

GradientReducer::GradientReducer(ProcessGroup& group, std::vector<at::Tensor> parameters,
                                 ReducerOptions options)
    : impl_(std::make_unique<Impl>()) {
  const c10::intrusive_ptr<c10d::ProcessGroup>& ranks = group.impl().group;
  impl_->state = std::make_shared<HookState>();
  impl_->state->group = ranks;
  impl_->state->world = group.world();
  impl_->state->group_averages = group.backend() == Backend::kNccl;
  impl_->state->exchanges = options.exchanges;
  impl_->state->exchanged_type = options.exchanged_type;
  impl_->state->on_gradients_computed = options.on_gradients_computed;
  if (group.backend() == Backend::kNccl) {
    ranks->enableCollectivesTiming();
    impl_->state->timer = PassTimer(true);
  }
  impl_->reducer = make_reducer(ranks, std::move(parameters), options);
  // its own timing synchronises with the device
  impl_->reducer->set_ddp_runtime_logging_sample_rate(std::numeric_limits<int>::max());
  impl_->reducer->register_comm_hook(std::make_unique<AverageHook>(impl_->state));
}

GradientReducer::~GradientReducer() = default;

void GradientReducer::before_forward() {
  impl_->reducer->prepare_for_forward();
  impl_->reducer->rebuild_buckets();
}

void GradientReducer::before_backward() {
  impl_->reducer->prepare_for_backward({});
}

ReductionCount GradientReducer::last_pass() const {
  return impl_->state->complete;
}

const std::vector<double>& GradientReducer::busy_ms() const {
  return impl_->state->timer.busy_ms();
}

}  // namespace falcon::comm
