#include "comm/shard_exchange.h"

#include <utility>

#include <c10/cuda/CUDAGraphsC10Utils.h>

#include "comm/c10d_group.h"
#include "comm/pass_timer.h"

namespace falcon::comm {
namespace {

class Work : public Collective {
 public:
  explicit Work(c10::intrusive_ptr<c10d::Work> work) : work_(std::move(work)) {}
  void wait() override { work_->wait(); }

 private:
  c10::intrusive_ptr<c10d::Work> work_;
};

/// Gloo has no reduce-scatter of its own: a sum everywhere, of which each rank takes its part.
class ReducedEverywhere : public Collective {
 public:
  ReducedEverywhere(c10::intrusive_ptr<c10d::Work> work, at::Tensor part, at::Tensor place)
      : work_(std::move(work)), part_(std::move(part)), place_(std::move(place)) {}
  void wait() override {
    work_->wait();
    if (part_.const_data_ptr() != place_.const_data_ptr()) part_.copy_(place_);
  }

 private:
  c10::intrusive_ptr<c10d::Work> work_;
  at::Tensor part_;
  at::Tensor place_;
};

}  // namespace

struct ShardExchange::Impl {
  ProcessGroup& group;
  PassTimer timer;
  bool is_timed = false;  // the step
  ReductionCount current = {};
  ReductionCount complete = {};

  bool on_device() const { return group.backend() == Backend::kNccl; }
  c10d::ProcessGroup& ranks() const { return *group.impl().group; }
  void note(const c10::intrusive_ptr<c10d::Work>& work, const at::Tensor& whole) {
    current.bytes += static_cast<std::int64_t>(whole.nbytes());
    current.calls += 1;
    if (is_timed) timer.add(work, work->getFuture());
  }
};

ShardExchange::ShardExchange(ProcessGroup& group)
    : impl_(new Impl{group, PassTimer(group.backend() == Backend::kNccl)}) {
  if (impl_->on_device()) impl_->ranks().enableCollectivesTiming();
}

ShardExchange::~ShardExchange() = default;

std::unique_ptr<Collective> ShardExchange::all_gather(const at::Tensor& whole,
                                                      const at::Tensor& part) {
  at::Tensor output = whole.view(at::kByte);  // nothing is computed with them
  at::Tensor input = part.view(at::kByte);
  c10::intrusive_ptr<c10d::Work> work = impl_->ranks()._allgather_base(output, input);
  impl_->note(work, whole);
  return std::make_unique<Work>(std::move(work));
}

std::unique_ptr<Collective> ShardExchange::reduce_scatter(const at::Tensor& part,
                                                          const at::Tensor& whole) {
  if (impl_->on_device()) {
    at::Tensor output = part;
    at::Tensor input = whole;
    c10d::ReduceScatterOptions options;
    options.reduceOp = c10d::ReduceOp::AVG;
    c10::intrusive_ptr<c10d::Work> work =
        impl_->ranks()._reduce_scatter_base(output, input, options);
    impl_->note(work, whole);
    return std::make_unique<Work>(std::move(work));
  }
  whole.div_(impl_->group.world());  // Gloo has no average
  std::vector<at::Tensor> tensors{whole};
  c10::intrusive_ptr<c10d::Work> work = impl_->ranks().allreduce(tensors);
  impl_->note(work, whole);
  const std::int64_t count = part.numel();
  return std::make_unique<ReducedEverywhere>(std::move(work), part,
                                             whole.narrow(0, impl_->group.rank() * count, count));
}

void ShardExchange::begin_step() {
  impl_->current = {};
  // a captured collective has no time of its own: it runs in every replay
  impl_->is_timed = !impl_->on_device() || c10::cuda::currentStreamCaptureStatusMayInitCtx() ==
                                               c10::cuda::CaptureStatus::None;
  if (impl_->is_timed) impl_->timer.begin_pass();
}

void ShardExchange::end_step() {
  impl_->complete = impl_->current;
  impl_->is_timed = false;
}

ReductionCount ShardExchange::last_step() const {
  return impl_->complete;
}

const std::vector<double>& ShardExchange::busy_ms() const {
  return impl_->timer.busy_ms();
}

}  // namespace falcon::comm
