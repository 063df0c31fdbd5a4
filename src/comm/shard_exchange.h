// All-gather and reduce-scatter of flat buffers beside the computation, counted and timed: what a
// sharded strategy is made of.
#pragma once
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "comm/gradient_reducer.h"
#include "comm/process_group.h"

namespace falcon::comm {

/// A collective under way.
class Collective {
 public:
  virtual ~Collective() = default;
  /// With NCCL the current stream waits for the result, with Gloo the caller does. Once.
  virtual void wait() = 0;
};

/// Every buffer `whole` is 1-D and holds one part of equal length a rank, in rank order.
class ShardExchange {
 public:
  /// The group must outlive it.
  explicit ShardExchange(ProcessGroup& group);
  ~ShardExchange();
  ShardExchange(const ShardExchange&) = delete;
  ShardExchange& operator=(const ShardExchange&) = delete;

  // In the same order on every rank; tensors stay untouched until wait().
  /// whole becomes the parts of all ranks. part may be this rank's place in whole.
  std::unique_ptr<Collective> all_gather(const at::Tensor& whole, const at::Tensor& part);
  /// part becomes this rank's part of the average of whole over the ranks; whole is left
  /// unspecified. part may be its place in whole.
  std::unique_ptr<Collective> reduce_scatter(const at::Tensor& part, const at::Tensor& whole);

  /// The collectives of a step are those from here to end_step().
  void begin_step();
  void end_step();
  /// Of the last complete step: bytes of the whole buffers.
  ReductionCount last_step() const;
  /// As GradientReducer::busy_ms().
  const std::vector<double>& busy_ms() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace falcon::comm
